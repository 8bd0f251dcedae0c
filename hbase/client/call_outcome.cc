// The exceptions of HBase's servers, by class. HBase's client decides by the same classes what it tries
// again.
#include "hbase/client/call_outcome.h"

#include <fmt/core.h>

#include <map>

#include "hbase/wire/common.pb.h"
#include "hbase/wire/rpc.pb.h"

namespace cellar::hbase {
namespace {

struct Meaning {
  Remedy remedy;
  Code code;                    // of a failure that is reported
  bool proves_nothing = false;  // the server may throw it after the change was made
};

// By the name of the class without its package.
const std::map<std::string_view, Meaning>& meanings() {
  static const std::map<std::string_view, Meaning> all = {
      {"NotServingRegionException", {Remedy::kRelocate, Code::kBusy}},
      {"RegionMovedException", {Remedy::kRelocate, Code::kBusy}},
      {"RegionOpeningException", {Remedy::kRelocate, Code::kBusy}},
      {"RegionInRecoveryException", {Remedy::kRelocate, Code::kBusy}},
      {"RegionOfflineException", {Remedy::kRelocate, Code::kBusy}},
      {"WrongRegionException", {Remedy::kRelocate, Code::kBusy}},
      {"RegionServerStoppedException", {Remedy::kRelocate, Code::kBusy}},
      {"RegionServerAbortedException", {Remedy::kRelocate, Code::kBusy}},
      {"ServerNotRunningYetException", {Remedy::kRelocate, Code::kBusy}},
      {"MasterNotRunningException", {Remedy::kRelocate, Code::kBusy}},
      {"NotActiveMasterException", {Remedy::kRelocate, Code::kBusy}},
      {"MasterStoppedException", {Remedy::kRelocate, Code::kBusy}},
      {"PleaseHoldException", {Remedy::kWait, Code::kBusy}},
      {"MasterRegistryFetchException", {Remedy::kWait, Code::kBusy}},
      {"RegionTooBusyException", {Remedy::kWait, Code::kBusy}},
      {"CallQueueTooBigException", {Remedy::kWait, Code::kBusy}},
      {"CallDroppedException", {Remedy::kWait, Code::kBusy}},
      {"ServerTooBusyException", {Remedy::kWait, Code::kBusy}},
      {"RpcThrottlingException", {Remedy::kWait, Code::kBusy}},
      {"ThrottlingException", {Remedy::kWait, Code::kBusy}},
      {"MultiActionResultTooLarge", {Remedy::kWait, Code::kLimit}},
      {"RetryImmediatelyException", {Remedy::kWait, Code::kBusy}},
      {"CallTimeoutException", {Remedy::kWait, Code::kBusy, true}},
      {"TimeoutIOException", {Remedy::kWait, Code::kBusy, true}},
      {"UnknownScannerException", {Remedy::kReopen, Code::kIoError}},
      {"OutOfOrderScannerNextException", {Remedy::kReopen, Code::kIoError}},
      {"ScannerResetException", {Remedy::kReopen, Code::kIoError}},
      {"LeaseException", {Remedy::kReopen, Code::kIoError}},
      {"NoSuchColumnFamilyException", {Remedy::kNone, Code::kInvalidArgument}},
      {"InvalidFamilyOperationException", {Remedy::kNone, Code::kInvalidArgument}},
      {"FailedSanityCheckException", {Remedy::kNone, Code::kInvalidArgument}},
      {"IllegalArgumentException", {Remedy::kNone, Code::kInvalidArgument}},
      {"TableExistsException", {Remedy::kNone, Code::kInvalidArgument}},
      {"NamespaceExistException", {Remedy::kNone, Code::kInvalidArgument}},
      {"ConstraintException", {Remedy::kNone, Code::kInvalidArgument}},
      {"TableNotFoundException", {Remedy::kNone, Code::kNotFound}},
      {"NamespaceNotFoundException", {Remedy::kNone, Code::kNotFound}},
      {"TableNotEnabledException", {Remedy::kNone, Code::kBusy}},
      {"TableNotDisabledException", {Remedy::kNone, Code::kBusy}},
      {"RowTooBigException", {Remedy::kNone, Code::kLimit}},
      {"RequestTooBigException", {Remedy::kNone, Code::kLimit}},
      {"AccessDeniedException", {Remedy::kNone, Code::kReadOnly}},
      {"AccessControlException", {Remedy::kNone, Code::kReadOnly}},
      {"UnsupportedOperationException", {Remedy::kNone, Code::kNotSupported}},
      {"UnknownProtocolException", {Remedy::kNone, Code::kNotSupported}},
      {"CorruptHFileException", {Remedy::kNone, Code::kCorruption}},
      {"QuotaExceededException", {Remedy::kNone, Code::kLimit}},
      {"SpaceLimitingException", {Remedy::kNone, Code::kLimit}},
      {"InvalidLabelException", {Remedy::kNone, Code::kInvalidArgument}},
      {"LockTimeoutException", {Remedy::kNone, Code::kBusy}},
      {"CoprocessorException", {Remedy::kNone, Code::kNotSupported}},
      {"DoNotRetryRegionException", {Remedy::kNone, Code::kInvalidArgument}},
      {"UnknownRegionException", {Remedy::kNone, Code::kInvalidArgument}},
      {"FatalConnectionException", {Remedy::kNone, Code::kNotSupported}},
      {"DoNotRetryIOException", {Remedy::kNone, Code::kInvalidArgument}},
      {"InvalidProtocolBufferException", {Remedy::kNone, Code::kInvalidArgument}},
  };
  return all;
}

std::string_view class_without_package(std::string_view name) {
  for (const char separator : {'.', '$'})
    if (const size_t at = name.rfind(separator); at != std::string_view::npos) name.remove_prefix(at + 1);
  return name;
}

// The first line of a stack trace, without the class.
std::string_view message_of(std::string_view trace, std::string_view class_name) {
  trace = trace.substr(0, trace.find('\n'));
  if (trace.starts_with(class_name)) trace.remove_prefix(class_name.size());
  if (trace.starts_with(": ")) trace.remove_prefix(2);
  return trace;
}

// Tells if the server's program failed, by an exception of Java itself. The server wraps it into an
// IOException.
bool is_failed_program(std::string_view class_name, std::string_view trace) {
  constexpr std::string_view kJava = "java.lang.";
  constexpr std::string_view kCause = "\nCaused by: ";
  std::string_view name = class_name;
  if (name == "java.io.IOException") {
    const size_t at = trace.rfind(kCause);
    if (at == std::string_view::npos) return false;
    name = trace.substr(at + kCause.size());
  }
  // These two come and go.
  return name.starts_with(kJava) && !name.starts_with("java.lang.InterruptedException") &&
         !name.starts_with("java.lang.OutOfMemoryError");
}

CallError meaning_of(std::string_view class_name, std::string_view trace, bool do_not_retry) {
  const std::string_view name = class_without_package(class_name);
  const auto known = meanings().find(name);
  // HBase tries an unknown exception again, unless the server advises against it. It may come from the log of
  // writes or from a coprocessor, after the change was made.
  Meaning meaning = {Remedy::kWait, Code::kIoError, true};
  if (known != meanings().end()) meaning = known->second;
  if (do_not_retry && meaning.remedy == Remedy::kWait) {
    meaning.remedy = Remedy::kNone;
    // A server that advises against another attempt has refused the call.
    if (known == meanings().end()) meaning.proves_nothing = false;
  }
  // The reason that a server cannot read a request is in the message: a class that it does not have, for
  // instance.
  const std::string_view message = message_of(trace, class_name);
  CallError error;
  error.remedy = meaning.remedy;
  error.may_have_happened = meaning.proves_nothing;
  error.doubtful =
      meaning.remedy == Remedy::kWait && known == meanings().end() && is_failed_program(class_name, trace);
  error.status =
      Status::with_code(meaning.code, fmt::format("{} ({})", message.empty() ? "no message" : message, name));
  return error;
}

}  // namespace

CallError error_of(const wire::ExceptionResponse& exception) {
  CallError error = meaning_of(exception.class_name(), exception.stack_trace(), exception.do_not_retry());
  error.overloaded = exception.server_overloaded();
  const int32_t port = exception.port();
  if (error.remedy == Remedy::kRelocate && !exception.host_name().empty() && port > 0 && port <= UINT16_MAX)
    error.moved_to = ServerAddress{exception.host_name(), static_cast<uint16_t>(port)};
  return error;
}

CallError error_of(const wire::NameBytesPair& exception) {
  CallError error = meaning_of(exception.name(), exception.value(), false);
  // The exception of an action has no word on another attempt. One of a coprocessor may be a refusal.
  if (error.remedy == Remedy::kWait && !exception.name().starts_with("java.") &&
      !exception.name().starts_with("org.apache."))
    error.doubtful = true;
  return error;
}

}  // namespace cellar::hbase
