// Call: one request of a client, and the answer to it. Exceptions of HBase by their Java classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cellar/status.h"
#include "hbase/wire/frames.h"

namespace cellar::hbase::serve {

// Classes that clients know and act on. A class derived from DoNotRetryIOException ends a call, others are
// retried.
namespace java {
inline constexpr std::string_view kIoException = "java.io.IOException";
inline constexpr std::string_view kDoNotRetry = "org.apache.hadoop.hbase.DoNotRetryIOException";
inline constexpr std::string_view kNotServingRegion = "org.apache.hadoop.hbase.NotServingRegionException";
inline constexpr std::string_view kRegionTooBusy = "org.apache.hadoop.hbase.RegionTooBusyException";
inline constexpr std::string_view kCallDropped = "org.apache.hadoop.hbase.CallDroppedException";
inline constexpr std::string_view kRequestTooBig =
    "org.apache.hadoop.hbase.exceptions.RequestTooBigException";
inline constexpr std::string_view kMultiTooLarge = "org.apache.hadoop.hbase.MultiActionResultTooLarge";
inline constexpr std::string_view kServerStopped =
    "org.apache.hadoop.hbase.regionserver.RegionServerStoppedException";
inline constexpr std::string_view kNoSuchFamily =
    "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException";
inline constexpr std::string_view kInvalidFamily = "org.apache.hadoop.hbase.InvalidFamilyOperationException";
inline constexpr std::string_view kUnknownScanner = "org.apache.hadoop.hbase.UnknownScannerException";
inline constexpr std::string_view kOutOfOrder =
    "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException";
inline constexpr std::string_view kOperationConflict =
    "org.apache.hadoop.hbase.exceptions.OperationConflictException";
inline constexpr std::string_view kTableNotFound = "org.apache.hadoop.hbase.TableNotFoundException";
inline constexpr std::string_view kTableExists = "org.apache.hadoop.hbase.TableExistsException";
inline constexpr std::string_view kTableNotDisabled = "org.apache.hadoop.hbase.TableNotDisabledException";
inline constexpr std::string_view kTableNotEnabled = "org.apache.hadoop.hbase.TableNotEnabledException";
inline constexpr std::string_view kNamespaceNotFound = "org.apache.hadoop.hbase.NamespaceNotFoundException";
inline constexpr std::string_view kNamespaceExists = "org.apache.hadoop.hbase.NamespaceExistException";
inline constexpr std::string_view kConstraint = "org.apache.hadoop.hbase.constraint.ConstraintException";
inline constexpr std::string_view kFatalConnection = "org.apache.hadoop.hbase.ipc.FatalConnectionException";
inline constexpr std::string_view kUnsupportedCodec =
    "org.apache.hadoop.hbase.ipc.UnsupportedCellCodecException";
inline constexpr std::string_view kUnsupportedCompression =
    "org.apache.hadoop.hbase.ipc.UnsupportedCompressionCodecException";
inline constexpr std::string_view kUnknownService = "org.apache.hadoop.hbase.ipc.UnknownServiceException";
}  // namespace java

// Returns whether HBase derives the class from DoNotRetryIOException.
bool ends_a_call(std::string_view java_class);

struct JavaFailure {
  std::string class_name;
  std::string message;
  // Returns the text of Throwable.printStackTrace, whose first line is what clients show.
  std::string stack_trace() const { return class_name + ": " + message; }
};

// Call: a request in one thread. The views point into the frame of the request.
class Call {
 public:
  // `cell_blocks`: the client takes the cells of answers in a cell block.
  Call(std::string_view method, wire::FrameParts parts, uint32_t timeout_ms, bool cell_blocks)
      : method_(method), parts_(parts), timeout_ms_(timeout_ms), cell_blocks_(cell_blocks) {}

  std::string_view method() const { return method_; }
  std::string_view message() const { return parts_.message; }
  std::string_view cells() const { return parts_.cell_block; }
  // Returns the milliseconds after which the client gives the call up, or 0 if it did not say.
  uint32_t timeout_ms() const { return timeout_ms_; }
  bool cell_blocks() const { return cell_blocks_; }

  // Parses the message of the request. kInvalidArgument if it cannot be read.
  Status read(google::protobuf::MessageLite& message) const;
  // Sets the message of the answer.
  Status answer(const google::protobuf::MessageLite& message);
  const std::string& answered() const { return answer_; }
  // Returns the cell block of the answer, to which cells are appended.
  std::string& cell_block() { return cell_block_; }

  // Counts the bytes of the rows that a list of actions returns.
  uint64_t& row_bytes() { return row_bytes_; }

  // Records the Java class of the error that the service is about to return. Returns that error.
  Status refuse(std::string_view java_class, std::string message);
  // Returns the exception for an error, and forgets the class that refuse() recorded for it.
  JavaFailure take_failure(const Status& status);

 private:
  std::string_view method_;
  wire::FrameParts parts_;
  uint32_t timeout_ms_;
  bool cell_blocks_;
  uint64_t row_bytes_ = 0;
  std::string answer_;
  std::string cell_block_;
  std::optional<JavaFailure> refused_;
};

}  // namespace cellar::hbase::serve
