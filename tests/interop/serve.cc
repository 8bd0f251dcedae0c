// Serves a store whose clock stands still until it is set.
#include "tests/interop/serve.h"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "cellar/engine.h"
#include "cellar/manual_clock.h"
#include "hbase/serve/server.h"

namespace cellar::interop {

Status serve_store(const std::filesystem::path& directory, const std::string& certificate,
                   const std::string& issuers) {
  ManualClock clock(0);
  // As Answerer in region.cc, so that both answer alike.
  EngineOptions options{.create_if_missing = true,
                        .durability = Durability::kSkipWal,
                        .automatic_flush = false,
                        .automatic_compaction = false};
  options.ttl_clock_guard_s = 0;
  options.drop_expired_files = false;
  options.environment.clock = &clock;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, Engine::open(directory.string(), options));
  {
    hbase::serve::ServerOptions server_options;
    server_options.port = 0;
    if (!certificate.empty())
      server_options.tls = hbase::TlsFiles{.ca = issuers, .certificate = certificate, .key = certificate};
    CELLAR_TRY_ASSIGN(const auto server, hbase::serve::Server::start(*engine, server_options));
    std::cout << "serving " << server->host() << ':' << server->port() << std::endl;
    std::atomic<bool> over = false;
    std::thread reader([&] {
      for (std::string line; std::getline(std::cin, line);) {
        if (line.starts_with("clock ")) clock.set_ms(std::strtoll(line.c_str() + 6, nullptr, 10));
        std::cout << "ok" << std::endl;
      }
      over = true;
    });
    const Status served = server->run([&] { return over.load(); });
    reader.join();
    CELLAR_TRY(served);
  }
  return engine->close();
}

}  // namespace cellar::interop
