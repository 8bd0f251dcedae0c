// cellar serve: a store answers the calls of HBase's clients.
#include <fmt/format.h>

#include <filesystem>
#include <functional>

#include "cellar/environment.h"
#include "hbase/serve/server.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

// Returns what admits the files below the directory. Paths lose their symbolic links, which could lead out.
// Users who can change the directory could put such a link there later, so it must be closed to others.
Result<std::function<Result<std::string>(const std::string&)>> loads_from(const std::string& directory) {
  std::error_code error;
  const fs::path root = fs::canonical(directory, error);
  const fs::file_status found = error ? fs::file_status() : fs::status(root, error);
  if (error)
    return Status::not_found("--load-from: the directory cannot be read: " + error.message()).at(directory);
  if ((found.permissions() & fs::perms::others_write) != fs::perms::none)
    return Status::invalid_argument("--load-from: every user may write into the directory")
        .at(directory)
        .hinting("chmod o-w " + shell_word(directory));
  return [root](const std::string& path) -> Result<std::string> {
    std::error_code unreadable;
    const fs::path whole = fs::canonical(path, unreadable);
    const fs::path below = unreadable ? fs::path() : whole.lexically_relative(root);
    if (!below.empty() && *below.begin() != "..") return whole.string();
    return Status::read_only("the file is not there, or outside of the directory of --load-from").at(path);
  };
}

class ServeCommand final : public Command {
 public:
  explicit ServeCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Answer HBase's clients from a store, until it is interrupted";
  }

  void declare(Arguments& arguments) override {
    arguments.formats({"table"})
        .operand("STORE", store_, "directory of the store; created if it does not exist")
        .option_count("--port", port_, "port to listen on; 0: any that is free; default: 16000")
        .option("--bind", bind_, "ADDRESS", "address to listen on; default: 127.0.0.1, this machine alone")
        .option_count("--max-connections", connections_,
                      "connections at a time; more are closed; default: 256")
        .option("--tls-cert", tls_.certificate, "FILE", "speak TLS alone, with this certificate (PEM)")
        .option("--tls-key", tls_.key, "FILE", "its private key (PEM, without a password)")
        .option("--tls-client-ca", tls_.ca, "FILE",
                "admit only clients with a certificate of one of these issuers (PEM)")
        .option("--load-from", load_from_, "DIR",
                "let clients bulk load HFiles that lie below this directory")
        .option("--for", duration_, "TIME", "end after this time: 90s, 15m; default: never")
        .note(
            "A Java program needs two settings of HBase's client to work on the store:\n"
            "  hbase.client.registry.impl = org.apache.hadoop.hbase.client.RpcConnectionRegistry\n"
            "  hbase.masters = the printed address\n"
            "Every program that reaches the port can read and write the store, unless --tls-client-ca asks "
            "it\n"
            "for a certificate.")
        .example("cellar serve shop --port 0 --for 2s",
                 "HBase's client finds the store at the printed address, for two seconds")
        .example("cellar serve shop --port 0 --bind 127.0.0.1 --max-connections 100 --for 2s",
                 "at most 100 connections, all of this machine")
        .more_example(
            "cellar serve shop --port 0 --tls-cert own.pem --tls-key own.pem --tls-client-ca ca.pem "
            "--for 2s",
            "through TLS alone, for clients with a certificate of this issuer")
        .more_example("cellar serve shop --port 0 --load-from load --for 2s",
                      "bulk loads, as by `cellar bulkload ingest load hbase://localhost:PORT orders`");
  }

  Status run(Session& session) override {
    if (port_ > UINT16_MAX || connections_ == 0)
      return Status::invalid_argument(fmt::format("--port {} --max-connections {}", port_, connections_))
          .hinting("a port is a number up to 65535, and at least one connection is needed");
    CELLAR_TRY(check_tls());
    int64_t ms = INT64_MAX;
    if (!duration_.empty()) {
      CELLAR_TRY_ASSIGN(ms, parse_duration_ms(duration_));
    }
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kCreating));
    hbase::serve::ServerOptions options;
    options.port = static_cast<uint16_t>(port_);
    options.bind = bind_;
    options.connections = connections_;
    if (!tls_.certificate.empty()) options.tls = tls_;
    if (!load_from_.empty()) {
      CELLAR_TRY_ASSIGN(options.service.admit_load, loads_from(load_from_));
    }
    const std::unique_ptr<Logger> log = make_stderr_logger(LogLevel::kWarning);
    options.log = log.get();
    {
      CELLAR_TRY_ASSIGN(const std::unique_ptr<hbase::serve::Server> server,
                        hbase::serve::Server::start(*engine, options));
      session.out().write(fmt::format("serving {} at {}:{}\n", store_, server->host(), server->port()));
      session.out().flush();
      const int64_t begin_us = system_clock().steady_us();
      CELLAR_TRY(
          server->run([&] { return interrupted() || (system_clock().steady_us() - begin_us) / 1000 >= ms; }));
    }
    session.talk("all calls are answered, and the store is closed");
    return engine->close();
  }

 private:
  Status check_tls() const {
    if (tls_.certificate.empty() != tls_.key.empty())
      return Status::invalid_argument("--tls-cert and --tls-key belong together")
          .hinting("one file may hold both the certificate and its key: name it twice");
    if (tls_.certificate.empty() && !tls_.ca.empty())
      return Status::invalid_argument("--tls-client-ca needs TLS")
          .hinting("give --tls-cert and --tls-key, too");
    return {};
  }

  std::string store_;
  uint64_t port_ = 16000;
  std::string bind_ = "127.0.0.1";
  uint64_t connections_ = 256;
  hbase::TlsFiles tls_;
  std::string load_from_;
  std::string duration_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_serve_cmd_serve, "serve", ServeCommand)

}  // namespace cellar
