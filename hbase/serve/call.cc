// Errors of Cellar as exceptions of HBase.
#include "hbase/serve/call.h"

#include <google/protobuf/message_lite.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar::hbase::serve {
namespace {

// Returns the class for an error that no service gave one. Failures that a later try may mend are retried.
std::string_view class_of(Code code) {
  switch (code) {
    case Code::kBusy:
    case Code::kConflict:
      return java::kRegionTooBusy;
    case Code::kAborted:
    case Code::kLocked:
      return java::kServerStopped;
    case Code::kIoError:
    case Code::kNoSpace:
      return java::kIoException;
    case Code::kLimit:
      return java::kRequestTooBig;
    case Code::kOk:
    case Code::kNotFound:
    case Code::kInvalidArgument:
    case Code::kCorruption:
    case Code::kReadOnly:
    case Code::kNotSupported:
    case Code::kDurabilityUnknown:
      return java::kDoNotRetry;
  }
  return java::kDoNotRetry;
}

std::string text_of(const Status& status) {
  std::string text(status.message());
  if (!status.place().empty()) text += "; at " + std::string(status.place());
  if (!status.hint().empty()) text += "; hint: " + std::string(status.hint());
  return text;
}

}  // namespace

bool ends_a_call(std::string_view java_class) {
  constexpr std::string_view kRetried[] = {java::kIoException,   java::kNotServingRegion,
                                           java::kRegionTooBusy, java::kServerStopped,
                                           java::kCallDropped,   java::kMultiTooLarge};
  return std::ranges::find(kRetried, java_class) == std::end(kRetried);
}

Status Call::read(google::protobuf::MessageLite& message) const {
  const Status read = wire::parse_message(message, parts_.message);
  return read.ok() ? read : Status::invalid_argument(std::string(read.message()));
}

Status Call::answer(const google::protobuf::MessageLite& message) {
  answer_.clear();
  if (message.SerializeToString(&answer_)) return {};
  return Status::limit("the answer is larger than 2 GiB").hinting("ask for fewer rows at a time");
}

Status Call::refuse(std::string_view java_class, std::string message) {
  CELLAR_ASSERT(!java_class.empty());
  refused_ = JavaFailure{std::string(java_class), message};
  return Status::invalid_argument(std::move(message));
}

JavaFailure Call::take_failure(const Status& status) {
  CELLAR_ASSERT(!status.ok());
  std::optional<JavaFailure> refused = std::exchange(refused_, std::nullopt);
  // The class belongs to this error only if nothing replaced the error on its way.
  if (refused && status.message().ends_with(refused->message)) return *std::move(refused);
  return {std::string(class_of(status.code())), text_of(status)};
}

}  // namespace cellar::hbase::serve
