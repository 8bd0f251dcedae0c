// BreakingProxy: stands between clients and a server of the same port, and breaks connections at random.
#pragma once

#include <cstdint>
#include <memory>

namespace cellar::testing {

// The server listens at 127.0.0.1, the proxy at kHost, both at one port.
class BreakingProxy {
 public:
  static constexpr const char* kHost = "127.0.0.2";

  // One in so many pieces of up to 64 KiB is cut off within, in either direction, and its connection ends.
  BreakingProxy(uint16_t port, uint64_t seed, uint64_t one_in);
  ~BreakingProxy();
  BreakingProxy(const BreakingProxy&) = delete;
  BreakingProxy& operator=(const BreakingProxy&) = delete;

  // False if the system did not let it listen.
  bool is_listening() const;
  // How many connections were cut.
  uint64_t cuts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar::testing
