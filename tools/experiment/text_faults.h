// TextFaults: all faults of a text, so that one look shows them.
#pragma once

#include <string>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// One thread.
class TextFaults {
 public:
  explicit TextFaults(std::string source) : source_(std::move(source)) {}

  // Adds a fault at `place`, such as "workload[1].skew"; nothing if `status` is ok.
  void add(const std::string& place, const Status& status) {
    if (!status.ok()) faults_.push_back({place, status});
  }
  void add(const std::string& place, std::string message, std::string_view hint = {}) {
    add(place, Status::invalid_argument(std::move(message)).hinting(hint));
  }
  size_t count() const { return faults_.size(); }
  bool has_at(const std::string& place) const {
    for (const Fault& fault : faults_)
      if (fault.place == place) return true;
    return false;
  }

  // Returns ok without faults. The only fault has its place and hint; several stand in one message.
  Status status() const {
    if (faults_.empty()) return {};
    if (faults_.size() == 1) {
      const Fault& fault = faults_.front();
      return Status::invalid_argument(std::string(fault.status.message()))
          .at(source_ + ": " + fault.place)
          .hinting(fault.status.hint());
    }
    std::string all = std::to_string(faults_.size()) + " faults";
    for (const Fault& fault : faults_) {
      all += "; " + fault.place + ": " + std::string(fault.status.message());
      if (!fault.status.hint().empty()) all += " (" + std::string(fault.status.hint()) + ")";
    }
    return Status::invalid_argument(all).at(source_).hinting("cellar experiment --help describes the text");
  }

 private:
  struct Fault {
    std::string place;
    Status status;
  };
  std::string source_;
  std::vector<Fault> faults_;
};

}  // namespace cellar
