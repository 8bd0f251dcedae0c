// Goal: a mutation that would pass 4 GiB is refused by every write that takes it, never cut. Method: values
// in memory that is reserved and never touched, so that a refusal costs nothing and a copy would be noticed.
#include <sys/mman.h>

#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "engine/values/mutation_reader.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/observer_fixture.h"

namespace cellar::testing {
namespace {

// Bytes that nobody has touched and that take no memory: a refused write must not read them.
class ManyBytes {
 public:
  explicit ManyBytes(size_t size)
      : size_(size),
        bytes_(mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ManyBytes(const ManyBytes&) = delete;
  ManyBytes& operator=(const ManyBytes&) = delete;
  ~ManyBytes() { munmap(bytes_, size_); }
  bool there() const { return bytes_ != MAP_FAILED; }
  std::string_view view() const { return {static_cast<const char*>(bytes_), size_}; }

 private:
  const size_t size_;
  void* const bytes_;
};

class MutationSizes : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    clock_.set_wall_ms(1000);
    table_ = make_table("t", {family("f", 5), family("g", 5)});
    EXPECT_OK(table_->put(Put("r").add_at("f", "q", 10, "kept")));
  }
  void TearDown() override { table_.reset(); }
  static void refused(const Status& status) {
    EXPECT_TRUE(status.is(Code::kLimit)) << status.to_text();
    EXPECT_NE(status.to_text().find("more than 4294967295 bytes"), std::string::npos) << status.to_text();
  }

  const ManyBytes many_{(size_t{4} << 30) + 1};  // the low 32 bits of the size are 1
  std::shared_ptr<Table> table_;
};

TEST(MutationRoom, APieceHasRoomUpTo32BitsOfBytes) {
  static_assert(mutation_has_room(0, 0, 0, UINT32_MAX));
  static_assert(!mutation_has_room(0, 0, 0, uint64_t{UINT32_MAX} + 1));
  static_assert(mutation_has_room(UINT32_MAX - 6, 1, 2, 3));
  static_assert(!mutation_has_room(UINT32_MAX - 6, 2, 2, 3));
  static_assert(!mutation_has_room(UINT32_MAX - 6, 1, 3, 3));
  static_assert(!mutation_has_room(UINT32_MAX - 6, 1, 2, 4));
  static_assert(!mutation_has_room(1, UINT64_MAX, UINT64_MAX, UINT64_MAX),
                "the sum of the parts must not wrap");
  static_assert(!mutation_has_room(UINT64_MAX, 1, 0, 0));
}

TEST_F(MutationSizes, AMutationOver4GiBIsRefusedByEveryWrite) {
  ASSERT_TRUE(many_.there());
  const std::string_view huge = many_.view();
  const Put large_put = Put("r").add("f", "q", huge);
  EXPECT_TRUE(large_put.too_large());
  EXPECT_FALSE(large_put.empty());
  refused(table_->put(large_put));
  refused(table_->put(Put("r").add("f", "q", "small").add("f", huge, "v").add("g", "q", "small")));
  refused(table_->put(Put(huge).add("f", "q", "v")));
  // Without its only piece it would delete the whole row.
  const Delete large_delete = Delete("r").column("f", huge);
  refused(table_->erase(large_delete));
  const Append large_append = Append("r").add("f", "q", huge);
  refused(table_->append(large_append).status());
  refused(table_->mutate(RowMutations("r").add(Put("r").add("f", "q", "small")).add(large_put)).status());
  refused(table_->mutate(RowMutations("r").add(large_delete)).status());
  refused(table_->mutate(RowMutations("r").add(large_append)).status());
  refused(table_->check_and_mutate(CheckAndMutate("r").if_not_exists("f", "none").then(large_put)).status());
  refused(
      table_->check_and_mutate(CheckAndMutate("r").if_not_exists("f", "none").then(large_delete)).status());
  refused(engine_->write(Batch().put(table_, Put("other").add("f", "q", "small")).put(table_, large_put)));
  refused(engine_->write(Batch().erase(table_, large_delete)));
  refused(engine_->write(Batch().append(table_, large_append)));
  const std::vector<Action> actions = {Put("other").add("f", "a", "1"), large_put, large_delete,
                                       large_append};
  const std::vector<Result<ActionResult>> done = table_->batch(actions);
  EXPECT_OK(done[0].status());
  for (size_t i = 1; i < done.size(); ++i) refused(done[i].status());
  const std::unique_ptr<Transaction> transaction = engine_->begin().value();
  refused(transaction->put(table_, large_put));
  refused(transaction->erase(table_, large_delete));
  refused(transaction->append(table_, large_append).status());
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(scan(*table_, Scan().raw(true).all_versions()),
            (Texts{"other/f:a/1000/Put=1", "r/f:q/10/Put=kept"}));

  Put again = large_put;
  EXPECT_OK(table_->put(again.start("s").add("f", "q", "v")));  // a mutation that begins anew is whole
  EXPECT_TRUE(again.start(huge).too_large());
}

TEST_F(MutationSizes, AnObserverCannotAddAMutationOver4GiB) {
  ASSERT_TRUE(many_.there());
  const std::shared_ptr<Table> other = make_table("other", {family("f", 5)});
  Status added;
  EXPECT_OK(engine_->add_observer(
      "t", "adds", std::make_shared<CallingObserver>([&](const RowView&, ObserverContext& context) {
        added = context.put(other, Put("r").add("f", "q", many_.view()));
        return Status();  // the failure refuses the write all the same
      })));
  refused(table_->put(Put("r").add("f", "q", "new")));
  refused(added);
  EXPECT_EQ(get(*table_, Get("r")), (Texts{"r/f:q/10/Put=kept"}));
  EXPECT_EQ(scan(*other, Scan()), Texts{});
}

TEST(SearchKeys, ARowLongerThanAnyStoredRowSortsAfterTheRowsThatBeginIt) {
  const std::string longest(kRowBytesMax, 'r');
  OwnedCell stored;
  stored.assign(longest, "f", "q", 1, CellType::kPut, 1);
  for (const size_t more : {size_t{1}, size_t{1} << 15, size_t{1} << 16, size_t{1} << 20}) {
    OwnedCell key;
    first_of_row(key, longest + std::string(more, 'r'));
    EXPECT_TRUE(compare_keys(stored.view(), key.view()) < 0) << more;
    first_of_row(key, longest + std::string(more, 'r').replace(0, 1, "a"));
    EXPECT_TRUE(compare_keys(stored.view(), key.view()) < 0) << more;
    first_of_row(key, "q" + std::string(kRowBytesMax + more, 'r'));
    EXPECT_TRUE(compare_keys(stored.view(), key.view()) > 0) << more;
  }
}

// Sizes in a view have 16 and 32 bits: parts that do not fit must not come out short.
TEST_F(MutationSizes, PartsOfACellThatDoNotFitAViewAreRefused) {
  ASSERT_TRUE(many_.there());
  OwnedCell cell;
  for (const size_t size : {size_t{65537}, size_t{65536} * 3 + 1, (size_t{4} << 30) + 1}) {
    cell.assign(many_.view().substr(0, size), "f", "q", 1, CellType::kPut, 0, "v");
    EXPECT_TRUE(engine_->write(Batch().cell(table_, cell.view())).is(Code::kLimit)) << size;
    std::string tags;
    for (size_t bytes = 0; bytes < std::min<size_t>(size, 1 << 20); bytes += 1003)
      append_tag(tags, 70, std::string(1000, 't'));
    cell.assign("r", "f", "q", 1, CellType::kPut, 0, "v", tags);
    EXPECT_FALSE(engine_->write(Batch().cell(table_, cell.view())).ok()) << size;
  }
  EXPECT_EQ(scan(*table_, Scan()), (Texts{"r/f:q/10/Put=kept"}));
}

}  // namespace
}  // namespace cellar::testing
