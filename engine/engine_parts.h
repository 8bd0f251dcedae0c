// EngineParts: what the engine and its tables share: the core, the write path, the background work.
#pragma once

#include <memory>
#include <string>

#include "engine/jobs/background.h"
#include "engine/store/core.h"
#include "engine/write/write_path.h"

namespace cellar {

// Lives as long as the engine, a table, a transaction or a feed's reader does.
struct EngineParts : std::enable_shared_from_this<EngineParts> {
  explicit EngineParts(std::shared_ptr<EngineCore> shared_core)
      : core(std::move(shared_core)), background(*core, write_path), write_path(*core, background) {}
  EngineParts(const EngineParts&) = delete;
  EngineParts& operator=(const EngineParts&) = delete;

  // Parts for those that outlive the call.
  std::shared_ptr<WritePath> shared_write_path() { return {shared_from_this(), &write_path}; }
  std::shared_ptr<Background> shared_background() { return {shared_from_this(), &background}; }

  const std::shared_ptr<EngineCore> core;
  Background background;
  WritePath write_path;
};

}  // namespace cellar
