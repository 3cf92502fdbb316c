// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/clock.h"
#include "front/testing/whole_front.h"

namespace hearth::front {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::WholeFront;

// The front with a folder that is watched.
class FoundModels : public WholeFront {
 public:
  FoundModels() {
    fs::create_directories(folder());
    config_.stores.clear();
    config_.folders = {folder()};
  }

  std::string folder() const { return directory_ / "folder"; }

  // A model whose file seems to be from yesterday.
  std::string put(const std::string& relative, const std::string& says = "found") {
    const std::string path = folder() + "/" + relative;
    fs::create_directories(fs::path{path}.parent_path());
    GgufBuilder file = GgufBuilder::small_model();
    file.text("test.says", says);
    std::ofstream{path, std::ios::binary} << file.bytes();
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours{24});
    return path;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const ModelStatus& model : service_->models()) {
      if (model.name != "tiny:latest" && model.name != "other:latest") names.push_back(model.name);
    }
    return names;
  }

  Task<void> rescan() {
    const Result<> done = co_await service_->rescan();
    EXPECT_TRUE(done) << done.error().message();
  }

  // On a server that is started for it.
  void check(Task<void> (*body)(FoundModels*)) {
    open();
    run(body(this));
  }
  FrontService& service() { return *service_; }
  void loads(Config config) {
    load_config_ = [config = std::move(config)]() -> Result<Config> { return config; };
  }
};

Task<void> takes_in(FoundModels* test) {
  co_await test->rescan();
  EXPECT_THAT(test->names(), ElementsAre("early:latest"));
  test->put("deep/late.gguf");
  co_await test->rescan();
  EXPECT_THAT(test->names(), ElementsAre("early:latest", "late:latest"));
  fs::remove(test->folder() + "/early.gguf");
  co_await test->rescan();
  EXPECT_THAT(test->names(), ElementsAre("late:latest"));
  fs::rename(test->folder(), test->folder() + "-away");
  co_await test->rescan();
  EXPECT_THAT(test->names(), IsEmpty());
  fs::rename(test->folder() + "-away", test->folder());
  co_await test->rescan();
  EXPECT_THAT(test->names(), ElementsAre("late:latest"));
}

TEST_F(FoundModels, ComeAndGoWithTheirFiles) {
  put("early.gguf");
  check(takes_in);
}

Task<void> many(FoundModels* test) {
  co_await test->rescan();
  EXPECT_EQ(test->names().size(), 21U);
}

TEST_F(FoundModels, AreAllListedHoweverMany) {
  for (int i = 0; i < 21; ++i) put("m" + std::to_string(i) + ".gguf");
  check(many);
}

Task<void> users_name_wins(FoundModels* test) {
  co_await test->rescan();  // after the import of "tiny"
  const Result<ModelStatus> tiny = test->service().model("tiny");
  EXPECT_TRUE(tiny && tiny->store == "user");
  EXPECT_THAT(test->names(), ElementsAre("deep/tiny:latest"));
}

Task<void> watch_later(FoundModels* test) {
  const auto reloaded = co_await test->service().reload_configuration();
  EXPECT_TRUE(reloaded);
  co_await users_name_wins(test);
}

TEST_F(FoundModels, LeaveAUsersNameAlone) {
  put("deep/tiny.gguf");
  Config later = config_;
  later.data = directory_.path();
  loads(later);
  config_.folders.clear();  // until "tiny" has been imported
  open();
  run(watch_later(this));
}

Task<void> switched_off(FoundModels* test) {
  co_await test->rescan();
  EXPECT_THAT(test->names(), ElementsAre("early:latest"));
  const auto reloaded = co_await test->service().reload_configuration();
  EXPECT_TRUE(reloaded);
  co_await test->rescan();
  EXPECT_THAT(test->names(), IsEmpty());
  EXPECT_TRUE(fs::exists(test->folder() + "/early.gguf"));
}

TEST_F(FoundModels, GoWithAFolderThatIsNoLongerWatched) {
  put("early.gguf");
  Config later = config_;
  later.data = directory_.path();
  later.folders.clear();
  loads(later);
  check(switched_off);
}

Task<void> only_look(FoundModels* test) {
  co_await test->rescan();
  EXPECT_THAT(test->names(), ElementsAre("early:latest"));
}

Task<void> expect_none(FoundModels* test) {
  co_await test->rescan();
  EXPECT_THAT(test->names(), IsEmpty());
}

TEST_F(FoundModels, GoWithAFolderThatWasTakenOutWhileNoServerRan) {
  put("early.gguf");
  check(only_look);
  config_.folders.clear();
  check(expect_none);
}

Task<void> stay_away(FoundModels* test) {
  co_await test->rescan();
  const Result<> removed = co_await test->service().remove_model("early");
  EXPECT_TRUE(removed);
  co_await expect_none(test);
  EXPECT_TRUE(fs::exists(test->folder() + "/early.gguf"));
}

TEST_F(FoundModels, StayAwayOnceRemoved) {
  put("early.gguf");
  check(stay_away);
  check(expect_none);
}

// Everything about a tree that a write would change, but for access times.
std::string state_of(const std::string& root) {
  std::ostringstream state;
  std::vector<std::string> paths{root};
  for (const auto& entry : fs::recursive_directory_iterator{root}) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    struct stat info{};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0);
    state << path << ' ' << info.st_ino << ' ' << info.st_mode << ' ' << info.st_size << ' '
          << info.st_mtim.tv_sec << '.' << info.st_mtim.tv_nsec << ' ' << info.st_ctim.tv_sec << '.'
          << info.st_ctim.tv_nsec << '\n';
    if (S_ISREG(info.st_mode)) state << std::ifstream{path, std::ios::binary}.rdbuf();
  }
  return state.str();
}

Task<void> use_and_remove(FoundModels* test) {
  co_await test->rescan();
  EXPECT_THAT(test->names(), ElementsAre("broken:latest", "early:latest", "late:latest"));
  (void)co_await test->service().details("early");
  (void)co_await test->service().remove_model("early");
  co_await test->rescan();
}

TEST_F(FoundModels, AreNeverWrittenTo) {
  put("early.gguf");
  put("deep/late.gguf");
  fs::create_symlink("nowhere", folder() + "/dangling.gguf");
  std::ofstream{folder() + "/broken.gguf"} << "GGUF and no more";
  fs::permissions(folder(), fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(folder() + "/early.gguf", fs::perms::owner_read);
  fs::last_write_time(folder() + "/broken.gguf",
                      fs::file_time_type::clock::now() - std::chrono::hours{24});
  const std::string before = state_of(folder());
  check(use_and_remove);
  EXPECT_EQ(state_of(folder()), before);
  fs::permissions(folder(), fs::perms::owner_all);
}

}  // namespace
}  // namespace hearth::front
