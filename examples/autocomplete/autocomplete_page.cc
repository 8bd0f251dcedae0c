// A page into which a person types, and which completes each keystroke.
//
//   example_autocomplete_page STORE FILE PAGE.html [--port N]    serves the page on this machine
//   example_autocomplete_page STORE FILE PAGE.html --replay      types titles over HTTP, and prints latencies
//
// STORE is the store that example_autocomplete filled from FILE.
#include "examples/autocomplete/titles.h"
#include "examples/page.h"

namespace {

using namespace example;

constexpr size_t kPeople = 4;

// One answer of the server.
struct Reply {
  int status = 0;  // 0: no answer
  std::string body;
};

Reply ask(httplib::Client& client, const std::string& path, const httplib::Headers& headers = {}) {
  const auto result = client.Get(path, headers);
  return result ? Reply{result->status, result->body} : Reply{};
}

// Types each fourth title from its first character on, as a person does, and compares each answer with a look
// at all titles.
Status type(int port, size_t person, const std::vector<Title>& titles, Latencies& latencies,
            Questions& questions) {
  httplib::Client client("127.0.0.1", port);
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  const size_t step = titles.size() / 400 + 1;
  for (size_t i = person * step; i < titles.size(); i += kPeople * step) {
    CELLAR_TRY_ASSIGN(const std::vector<size_t> ends, character_ends(titles[i].text));
    for (size_t n = 1; n <= std::min(kLongestPrefix, ends.size()); ++n) {
      const std::string prefix = titles[i].text.substr(0, ends[n - 1]);
      const int64_t begin = now_us();
      const Reply reply = ask(client, "/suggest?q=" + url_text(prefix));
      latencies.add(now_us() - begin);
      CELLAR_TRY(questions.holds("the server answers " + prefix, reply.status == 200));
      CELLAR_TRY(
          questions.same(prefix, reply.body, n < kShortestPrefix ? "[]" : best_by_looking(titles, prefix)));
    }
  }
  return {};
}

// One person types, then four at once.
Status replay(int port, const PageServer& server, const std::vector<Title>& titles, Questions& questions) {
  questions.chapter("Titles are typed over HTTP");
  Latencies alone, together;
  for (size_t person = 0; person < kPeople; ++person)
    CELLAR_TRY(type(port, person, titles, alone, questions));
  questions.say("keystroke to answer, " + alone.to_text());
  questions.say("of it in the server, " + server.latencies().to_text());
  std::vector<Status> ends(kPeople);
  std::vector<Questions> asked(kPeople);
  {
    std::vector<std::jthread> people;
    for (size_t person = 0; person < kPeople; ++person)
      people.emplace_back(
          [&, person] { ends[person] = type(port, person, titles, together, asked[person]); });
  }
  for (const Status& end : ends) CELLAR_TRY(end);
  questions.say("four people at once, " + together.to_text());
  return questions.holds("the median is at most 50 ms", alone.percentile(50) <= 50000);
}

Status replay_hostile(int port, Questions& questions) {
  httplib::Client client("127.0.0.1", port);
  questions.chapter("Hostile requests");
  const std::vector<std::tuple<std::string, std::string, int>> requests = {
      {"no query", "/suggest", 400},
      {"bytes that are not UTF-8", "/suggest?q=%ff%fe%fd", 400},
      {"zero bytes", "/suggest?q=%00%00%00", 200},
      {"an element of HTML", "/suggest?q=" + url_text("<script>alert(1)</script>"), 200},
      {"2,000 characters", "/suggest?q=" + std::string(2000, 'a'), 200},
      {"9,000 characters", "/suggest?q=" + std::string(9000, 'a'), 414},
      {"a file of the machine", "/../../../../etc/passwd", 404},
  };
  for (const auto& [what, path, status] : requests) {
    const Reply reply = ask(client, path);
    CELLAR_TRY(questions.answer(what, std::to_string(reply.status), std::to_string(status)));
    CELLAR_TRY(questions.holds("no byte of the answer begins an element",
                               reply.body.find('<') == std::string::npos));
  }
  const Reply foreign = ask(client, "/suggest?q=chime", {{"Host", "example.org:" + std::to_string(port)}});
  CELLAR_TRY(questions.answer("a page of another site", std::to_string(foreign.status), "403"));
  const Reply page = ask(client, "/");
  return questions.holds("the page itself",
                         page.status == 200 && page.body.find("<input") != std::string::npos);
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  CELLAR_TRY_ASSIGN(const std::optional<int> wanted, port_of(files, "example_autocomplete_page"));
  CELLAR_TRY_ASSIGN(const std::vector<Title> titles, read_titles(files[0]));
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(store, {.read_only = true}));
  CELLAR_TRY_ASSIGN(const auto prefixes, engine->open_table("prefixes"));
  CELLAR_TRY_ASSIGN(const auto server, PageServer::of_file(files[1]));
  server->on("/suggest", [&](const httplib::Request& asked) -> Result<std::string> {
    if (!asked.has_param("q")) return Status::invalid_argument("the parameter q is missing");
    return suggest(*prefixes, asked.get_param_value("q"));
  });
  server->on("/latencies",
             [&](const httplib::Request&) -> Result<std::string> { return server->latencies().to_json(); });
  CELLAR_TRY_ASSIGN(const int port, server->start(wanted.value_or(0)));
  if (wanted) {
    std::printf("http://127.0.0.1:%d/ completes %zu titles; Ctrl-C ends it\n", port, titles.size());
    std::fflush(stdout);
    server->wait();
    return {};
  }
  CELLAR_TRY(replay(port, *server, titles, questions));
  return replay_hostile(port, questions);
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "autocomplete_store", run); }
