// One visit of all members writes a record and reads it.
#include "tools/experiment/run_record.h"

#include <cmath>

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::pair<std::string, std::string>>;

// Rounds to nine digits, so that differences between samples keep some of them.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 8 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

class RecordWriter {
 public:
  void operator()(const char* name, const double& value) { json_[name] = rounded(value); }
  void operator()(const char* name, const std::optional<double>& value) {
    json_[name] = value ? Json(rounded(*value)) : Json();
  }
  void operator()(const char* name, const Texts& texts) {
    json_[name] = Json::object();
    for (const auto& [key, value] : texts) json_[name][key] = value;
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& list);
  template <class T>
  void operator()(const char* name, const T& value) {
    json_[name] = value;
  }
  Json take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

class RecordReader {
 public:
  explicit RecordReader(const Json& json) : json_(json) {}

  void operator()(const char* name, double& value) { read(name, json_type(name).is_number(), value); }
  void operator()(const char* name, bool& value) { read(name, json_type(name).is_boolean(), value); }
  void operator()(const char* name, std::string& value) { read(name, json_type(name).is_string(), value); }
  void operator()(const char* name, uint64_t& value) {
    read(name, json_type(name).is_number_unsigned(), value);
  }
  void operator()(const char* name, int64_t& value) {
    read(name, json_type(name).is_number_integer(), value);
  }
  void operator()(const char* name, std::optional<double>& value) {
    if (json_type(name).is_null() && json_.contains(name)) return;
    double number = 0;
    (*this)(name, number);
    value = number;
  }
  void operator()(const char* name, Texts& texts) {
    const Json& object = json_type(name);
    bool sound = object.is_object();
    for (const auto& [key, value] : object.items()) {
      sound = sound && value.is_string();
      if (sound) texts.emplace_back(key, value.get<std::string>());
    }
    if (!sound) complain(name);
  }
  template <class T>
  void operator()(const char* name, std::vector<T>& list);

  Status status() const {
    if (fault_.empty()) return {};
    return Status::invalid_argument("the member \"" + fault_ + "\" is missing, or it has another type");
  }

 private:
  const Json& json_type(const char* name) const {
    static const Json kNull;
    const auto found = json_.find(name);
    return found == json_.end() ? kNull : *found;
  }
  void complain(const char* name) {
    if (fault_.empty()) fault_ = name;
  }
  template <class T>
  void read(const char* name, bool sound, T& value) {
    if (sound) {
      value = json_type(name).get<T>();
    } else {
      complain(name);
    }
  }

  const Json& json_;
  std::string fault_;
};

template <class Visit, class Sample>
void visit_sample(Visit& visit, Sample& sample) {
  visit("loading", sample.loading);
  visit("operations", sample.operations);
  visit("seconds", sample.seconds);
  visit("bytes_on_disk", sample.bytes_on_disk);
  visit("files", sample.files);
  visit("sorted_runs", sample.sorted_runs);
  visit("bytes_put", sample.bytes_put);
  visit("bytes_written", sample.bytes_written);
  visit("bytes_flushed", sample.bytes_flushed);
  visit("bytes_compacted", sample.bytes_compacted);
  visit("stalls", sample.stalls);
  visit("stall_micros", sample.stall_micros);
}

template <class Visit, class Latency>
void visit_latency(Visit& visit, Latency& latency) {
  visit("call", latency.call);
  visit("count", latency.count);
  visit("p50_us", latency.p50);
  visit("p95_us", latency.p95);
  visit("p99_us", latency.p99);
  visit("p999_us", latency.p999);
  visit("max_us", latency.max);
}

template <class Visit>
void visit_member(Visit& visit, const RunSample& sample) {
  visit_sample(visit, sample);
}
template <class Visit>
void visit_member(Visit& visit, const RunLatency& latency) {
  visit_latency(visit, latency);
}
void visit_member(RecordReader& visit, RunSample& sample) { visit_sample(visit, sample); }
void visit_member(RecordReader& visit, RunLatency& latency) { visit_latency(visit, latency); }

template <class T>
void RecordWriter::operator()(const char* name, const std::vector<T>& list) {
  json_[name] = Json::array();
  for (const T& each : list) {
    RecordWriter inner;
    visit_member(inner, each);
    json_[name].push_back(inner.take());
  }
}

template <class T>
void RecordReader::operator()(const char* name, std::vector<T>& list) {
  if (!json_type(name).is_array()) return complain(name);
  for (const Json& each : json_type(name)) {
    if (!each.is_object()) return complain(name);
    RecordReader inner(each);
    visit_member(inner, list.emplace_back());
    if (!inner.status().ok()) fault_ = fault_.empty() ? std::string(name) + "." + inner.fault_ : fault_;
  }
}

// "kind", "workload", "peer" and "rate" are those of the benchmark driver's lines, so that `cellar plot`
// draws both.
template <class Visit, class Record>
void visit_record(Visit& visit, Record& record) {
  visit("experiment", record.experiment);
  visit("workload", record.workload);
  visit("peer", record.configuration);
  visit("round", record.round);
  visit("seed", record.seed);
  visit("options", record.options);
  visit("fields", record.fields);
  visit("identity", record.identity);
  visit("begun", record.begun);
  visit("version", record.version);
  visit("processor", record.processor);
  visit("cores", record.cores);
  visit("operations", record.operations);
  visit("seconds", record.seconds);
  visit("rate", record.rate);
  visit("load_seconds", record.load_seconds);
  visit("settle_seconds", record.settle_seconds);
  visit("write_amplification", record.write_amplification);
  visit("load_write_amplification", record.load_write_amplification);
  visit("space_amplification", record.space_amplification);
  visit("read_amplification", record.read_amplification);
  visit("bytes_put", record.bytes_put);
  visit("bytes_written", record.bytes_written);
  visit("bytes_flushed", record.bytes_flushed);
  visit("bytes_compacted", record.bytes_compacted);
  visit("bytes_on_disk", record.bytes_on_disk);
  visit("bytes_live", record.bytes_live);
  visit("bytes_read", record.bytes_read);
  visit("bytes_returned", record.bytes_returned);
  visit("reads", record.reads);
  visit("files_read", record.files_read);
  visit("blocks_from_cache", record.blocks_from_cache);
  visit("blocks_from_disk", record.blocks_from_disk);
  visit("bytes_from_disk", record.bytes_from_disk);
  visit("flushes", record.flushes);
  visit("compactions", record.compactions);
  visit("stalls", record.stalls);
  visit("stall_micros", record.stall_micros);
  visit("files", record.files);
  visit("sorted_runs", record.sorted_runs);
  visit("latencies", record.latencies);
  visit("samples", record.samples);
}

}  // namespace

std::optional<double> ratio(uint64_t amount, uint64_t of) {
  if (of == 0) return std::nullopt;
  return static_cast<double>(amount) / static_cast<double>(of);
}

std::optional<double> RunRecord::files_per_read() const { return ratio(files_read, reads); }
std::optional<double> RunRecord::blocks_per_read() const {
  return ratio(blocks_from_cache + blocks_from_disk, reads);
}

Json to_json(const RunRecord& record) {
  RecordWriter writer;
  writer("kind", std::string("result"));
  visit_record(writer, record);
  return writer.take();
}

Result<RunRecord> record_of(const Json& json) {
  if (!json.is_object() || !json.contains("kind") || json["kind"] != "result")
    return Status::invalid_argument("it is no result of a run");
  RunRecord record;
  RecordReader reader(json);
  visit_record(reader, record);
  CELLAR_TRY(reader.status());
  return record;
}

}  // namespace cellar
