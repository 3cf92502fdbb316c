// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/found/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/testing/forwarding_files.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kHash(40, 'c');
const std::string kDigest(64, 'a');
const std::string kOtherDigest(64, 'b');

// A directory in which a test builds what other programs leave behind; an hour old.
class StoreScanTest : public ::testing::Test {
 protected:
  std::string write(const std::string& relative, const std::string& text = "GGUF") {
    const std::string path = directory_ / relative;
    fs::create_directories(fs::path{path}.parent_path());
    std::ofstream{path, std::ios::binary} << text;
    return path;
  }

  void link(const std::string& relative, const std::string& target) {
    const std::string path = directory_ / relative;
    fs::create_directories(fs::path{path}.parent_path());
    fs::create_symlink(target, path);
  }

  StoreScan scan(Store store, const std::string& relative = "") {
    return scan_store(*files_, StoreRoot{store, root(relative)}, options_);
  }

  std::string root(const std::string& relative) const {
    return relative.empty() ? directory_.path() : directory_ / relative;
  }

  static std::vector<std::string> names(const StoreScan& scan) {
    std::vector<std::string> names;
    for (const FoundModel& model : scan.models) names.push_back(model.name);
    std::ranges::sort(names);
    return names;
  }

  static const FoundModel& model(const StoreScan& scan, const std::string& name) {
    static const FoundModel kNone{};
    const auto found = std::ranges::find(scan.models, name, &FoundModel::name);
    EXPECT_NE(found, scan.models.end()) << name;
    return found == scan.models.end() ? kNone : *found;
  }

  // Makes it look as if nobody had written for an hour.
  static std::int64_t in_an_hour() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::nanoseconds{now + std::chrono::hours{1}}.count();
  }

  testing::TempDir directory_;
  ScanOptions options_{in_an_hour(), {}, 100'000};
  const Files* files_ = &Files::real();
};

class HuggingFaceCache : public StoreScanTest {
 protected:
  static constexpr std::string_view kRepository = "models--org--Tiny-GGUF";

  void file(const std::string& snapshot, const std::string& name, const std::string& digest) {
    const std::string folder{kRepository};
    write(folder + "/blobs/" + digest, "GGUF " + digest);
    const auto depth = std::ranges::count(name, '/');
    std::string up = "../../";
    for (auto i = depth; i > 0; --i) up += "../";
    link(folder + "/snapshots/" + snapshot + "/" + name, up + "blobs/" + digest);
  }
  void main_is(const std::string& snapshot) {
    write(std::string{kRepository} + "/refs/main", snapshot);
  }
};

TEST_F(HuggingFaceCache, NamesModelsByRepositoryAndQuantisation) {
  file(kHash, "Tiny-Q4_K_M.gguf", kDigest);
  main_is(kHash);
  const StoreScan found = scan(Store::kHuggingFace);
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_THAT(names(found), ElementsAre("hf.co/org/Tiny-GGUF:Q4_K_M"));
  const FoundModel& model = found.models.front();
  EXPECT_EQ(model.fallback, "hf.co/org/Tiny-GGUF:Tiny-Q4_K_M");
  EXPECT_THAT(model.paths,
              ElementsAre(directory_ / std::string{kRepository} + "/blobs/" + kDigest));
  EXPECT_EQ(model.origin.source, "hf.co/org/Tiny-GGUF:Q4_K_M");
  EXPECT_EQ(model.origin.revision, kHash);
  ASSERT_THAT(model.origin.files, SizeIs(1));
  EXPECT_EQ(model.origin.files[0].sha256, kDigest);
  EXPECT_EQ(model.origin.files[0].url,
            "https://huggingface.co/org/Tiny-GGUF/resolve/" + kHash + "/Tiny-Q4_K_M.gguf");
}

TEST_F(HuggingFaceCache, PrefersTheRevisionMain) {
  const std::string older(40, 'd');
  file(older, "Tiny-Q4_K_M.gguf", kDigest);
  file(older, "Tiny-Q8_0.gguf", std::string(64, '1'));
  file(kHash, "Tiny-Q4_K_M.gguf", kOtherDigest);
  main_is(kHash + "\n");
  const StoreScan found = scan(Store::kHuggingFace);
  ASSERT_THAT(names(found), ElementsAre("hf.co/org/Tiny-GGUF:Q4_K_M", "hf.co/org/Tiny-GGUF:Q8_0"));
  EXPECT_THAT(model(found, "hf.co/org/Tiny-GGUF:Q4_K_M").paths[0], HasSubstr(kOtherDigest));
}

TEST_F(HuggingFaceCache, UsesAnySnapshotWithoutRefs) {
  file(kHash, "Tiny-Q4_K_M.gguf", kDigest);
  EXPECT_THAT(names(scan(Store::kHuggingFace)), ElementsAre("hf.co/org/Tiny-GGUF:Q4_K_M"));
}

TEST_F(HuggingFaceCache, PutsShardsInOrderAndLeavesCompanionsOut) {
  file(kHash, "Q6_K/Tiny-Q6_K-00002-of-00002.gguf", kDigest);
  file(kHash, "Q6_K/Tiny-Q6_K-00001-of-00002.gguf", kOtherDigest);
  file(kHash, "mmproj-F16.gguf", std::string(64, '1'));
  file(kHash, "Tiny.imatrix.gguf", std::string(64, '2'));
  file(kHash, "README.md", std::string(40, '3'));
  main_is(kHash);
  const StoreScan found = scan(Store::kHuggingFace);
  ASSERT_THAT(names(found), ElementsAre("hf.co/org/Tiny-GGUF:Q6_K"));
  ASSERT_THAT(found.models[0].paths, SizeIs(2));
  EXPECT_THAT(found.models[0].paths[0], HasSubstr(kOtherDigest));
  EXPECT_THAT(found.models[0].paths[1], HasSubstr(kDigest));
}

TEST_F(HuggingFaceCache, SaysWhichPartIsMissing) {
  file(kHash, "Tiny-Q6_K-00001-of-00002.gguf", kDigest);
  const StoreScan found = scan(Store::kHuggingFace);
  EXPECT_THAT(found.models, IsEmpty());
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("file 2 of 2 is missing")));
}

TEST_F(HuggingFaceCache, TellsModelsOfOneQuantisationApart) {
  file(kHash, "one-Q8_0.gguf", kDigest);
  file(kHash, "two-Q8_0.gguf", kOtherDigest);
  const StoreScan found = scan(Store::kHuggingFace);
  ASSERT_THAT(found.models, SizeIs(2));
  EXPECT_EQ(found.models[0].fallback, "hf.co/org/Tiny-GGUF:one-Q8_0");
  EXPECT_EQ(found.models[1].fallback, "hf.co/org/Tiny-GGUF:two-Q8_0");
}

TEST_F(HuggingFaceCache, ReportsLinksWithoutABlob) {
  file(kHash, "Tiny-Q4_K_M.gguf", kDigest);
  fs::remove(directory_ / std::string{kRepository} + "/blobs/" + kDigest);
  const StoreScan found = scan(Store::kHuggingFace);
  EXPECT_THAT(found.models, IsEmpty());
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("leads nowhere")));
}

TEST_F(HuggingFaceCache, SurvivesOddRefsAndFolders) {
  main_is("../../../../../etc");
  file(kHash, "Tiny-Q4_K_M.gguf", kDigest);
  write("models--", "a file");
  fs::create_directories(directory_ / "models--gpt2/refs");
  fs::create_directories(directory_ / "datasets--org--set/snapshots/1");
  const StoreScan found = scan(Store::kHuggingFace);
  EXPECT_THAT(names(found), ElementsAre("hf.co/org/Tiny-GGUF:Q4_K_M"));
}

class OllamaStore : public StoreScanTest {
 protected:
  static constexpr std::string_view kLibrary = "manifests/registry.ollama.ai/library/";

  std::string layer(const std::string& kind, char digit, const std::string& content,
                    const std::string& separator = "-") {
    const std::string hex(64, digit);
    write("blobs/sha256" + separator + hex, content);
    return R"({"mediaType": "application/vnd.ollama.image.)" + kind + R"(", "digest": "sha256:)" +
           hex + R"(", "size": )" + std::to_string(content.size()) + "}";
  }

  void manifest(const std::string& path, const std::vector<std::string>& layers) {
    std::string list;
    for (const std::string& item : layers) list += (list.empty() ? "" : ",") + item;
    write(path, R"({"schemaVersion": 2, "config": {}, "layers": [)" + list + "]}");
  }
};

TEST_F(OllamaStore, TakesNamesAndSettings) {
  manifest(std::string{kLibrary} + "tiny/1b",
           {layer("model", '1', "GGUF"), layer("template", '2', "{{ .Prompt }}"),
            layer("system", '3', "Be brief."),
            layer("params", '4', R"({"temperature": 0.5, "stop": ["x"]})"),
            layer("license", '5', "MIT"), layer("license", '6', "and more"),
            layer("messages", '7', R"([{"role": "user", "content": "hi"}])"),
            layer("adapter", '8', "GGUF lora"), layer("projector", '9', "GGUF clip")});
  const StoreScan found = scan(Store::kOllama);
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_THAT(names(found), ElementsAre("tiny:1b"));
  const FoundModel& model = found.models[0];
  EXPECT_EQ(model.fallback, "registry.ollama.ai/library/tiny:1b");
  EXPECT_THAT(model.paths, ElementsAre(directory_ / "blobs/sha256-" + std::string(64, '1')));
  EXPECT_THAT(model.adapters, ElementsAre(directory_ / "blobs/sha256-" + std::string(64, '8')));
  EXPECT_EQ(model.settings.chat_template, "{{ .Prompt }}");
  EXPECT_EQ(model.settings.system, "Be brief.");
  EXPECT_THAT(model.settings.parameters, HasSubstr(R"("stop":["x"])"));
  EXPECT_EQ(model.settings.license, "MIT\n\nand more");
  EXPECT_EQ(model.settings.messages, R"([{"role":"user","content":"hi"}])");
}

TEST_F(OllamaStore, CallsModelsAsOllamaDoes) {
  const std::string weights = layer("model", '1', "GGUF", ":");  // an old store's blob
  manifest(std::string{kLibrary} + "tiny/latest", {weights});
  manifest("manifests/registry.ollama.ai/someone/tiny/latest", {weights});
  manifest("manifests/hf.co/org/Repo-GGUF/Q4_K_M", {weights});
  const StoreScan found = scan(Store::kOllama);
  EXPECT_THAT(names(found),
              ElementsAre("hf.co/org/Repo-GGUF:Q4_K_M", "someone/tiny:latest", "tiny:latest"));
  EXPECT_EQ(model(found, "hf.co/org/Repo-GGUF:Q4_K_M").fallback,
            "hf.co/org/Repo-GGUF:Q4_K_M-ollama");
}

struct Damage {
  std::string manifest;
  std::string said;
};
class OllamaDamage : public OllamaStore, public ::testing::WithParamInterface<Damage> {};

TEST_P(OllamaDamage, IsReportedAndTheRestIsListed) {
  const std::string weights = layer("model", '1', "GGUF");
  manifest(std::string{kLibrary} + "good/latest", {weights});
  layer("params", '4', "[]");
  write(std::string{kLibrary} + "bad/latest", GetParam().manifest);
  const StoreScan found = scan(Store::kOllama);
  EXPECT_THAT(names(found), ElementsAre("good:latest"));
  if (GetParam().said.empty()) {
    EXPECT_THAT(found.problems, IsEmpty());
  } else {
    EXPECT_THAT(found.problems,
                ElementsAre(AllOf(HasSubstr("bad:latest"), HasSubstr(GetParam().said))));
  }
}

std::string one_layer(const std::string& kind, const std::string& digest, int size) {
  return R"({"layers": [{"mediaType": "application/vnd.ollama.image.)" + kind +
         R"(", "digest": ")" + digest + R"(", "size": )" + std::to_string(size) + "}]}";
}

INSTANTIATE_TEST_SUITE_P(
    Manifests, OllamaDamage,
    ::testing::Values(
        Damage{"", "JSON"}, Damage{"{\"layers\": [", "JSON"}, Damage{"[]", "lists no layers"},
        Damage{R"({"layers": {}})", "lists no layers"}, Damage{R"({"layers": [7]})", "no object"},
        Damage{R"({"layers": [{"digest": "md5:77", "size": 1}]})", "no SHA-256"},
        Damage{R"({"layers": [{"digest": "sha256:../../../../etc/passwd", "size": 1}]})",
               "no SHA-256"},
        Damage{one_layer("model", "sha256:" + std::string(64, 'f'), 4), "missing"},
        Damage{one_layer("model", "sha256:" + std::string(64, '1'), 5), "has 4 bytes"},
        Damage{one_layer("model", "sha256:" + std::string(64, '1'), -1), "no size"},
        Damage{one_layer("tensor", "sha256:" + std::string(64, '1'), 4), "safetensors"},
        Damage{one_layer("params", "sha256:" + std::string(64, '4'), 2), "params"},
        Damage{std::string(2 << 20, ' '), "larger than"}, Damage{R"({"layers": []})", ""}));

TEST_F(StoreScanTest, NamesLmStudiosModelsByPublisher) {
  write("org/Tiny-GGUF/Tiny-Q4_K_M.gguf");
  write("org/Tiny-GGUF/mmproj-Tiny-F16.gguf");
  write("loose.gguf");
  const StoreScan found = scan(Store::kLmStudio);
  EXPECT_THAT(names(found), ElementsAre("loose:latest", "org/Tiny-GGUF:Q4_K_M"));
  EXPECT_EQ(model(found, "org/Tiny-GGUF:Q4_K_M").fallback, "org/Tiny-GGUF:Tiny-Q4_K_M");
}

TEST_F(StoreScanTest, NamesFilesOfAFolder) {
  write("a/tiny.gguf");
  write("b/tiny.GGUF");
  write("b/set-00001-of-00002.gguf");
  write("b/set-00002-of-00002.gguf");
  write("b/notes.txt");
  write(".hidden/no.gguf");
  const StoreScan found = scan(Store::kFolder);
  EXPECT_THAT(names(found), ElementsAre("set:latest", "tiny:latest", "tiny:latest"));
  EXPECT_EQ(found.models[0].fallback, "a/tiny:latest");
  EXPECT_EQ(found.models[1].fallback, "b/tiny:latest");
  EXPECT_THAT(found.models[2].paths, SizeIs(2));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST_F(StoreScanTest, TellsFilesOfOneNameApart) {
  for (const char* place : {"x/a", "y/a", "z/a"}) write(std::string{place} + "/tiny.gguf");
  std::vector<std::string> fallbacks;
  for (const FoundModel& model : scan(Store::kFolder).models) fallbacks.push_back(model.fallback);
  EXPECT_THAT(fallbacks, ElementsAre("a/tiny:latest", "a/tiny:latest-2", "a/tiny:latest-3"));
}

TEST_F(StoreScanTest, FollowsLinksOnceAndReportsLoops) {
  write("elsewhere/deep/tiny.gguf");
  fs::create_directories(directory_ / "root");
  link("root/in", directory_ / "elsewhere");
  link("root/again", directory_ / "elsewhere/deep");
  link("root/deep/up", "..");
  link("root/self", "self");
  link("root/gone.gguf", "nowhere");
  link("root/gone.txt", "nowhere");
  const StoreScan found = scan(Store::kFolder, "root");
  EXPECT_THAT(names(found), ElementsAre("tiny:latest"));
  EXPECT_THAT(found.problems,
              ::testing::UnorderedElementsAre(HasSubstr("leads back"), HasSubstr("leads nowhere")));
}

TEST_F(StoreScanTest, StopsAtItsBounds) {
  std::string deep;
  for (int i = 0; i < 18; ++i) deep += "d/";
  write(deep + "far.gguf");
  write("near.gguf");
  EXPECT_THAT(scan(Store::kFolder).problems, ElementsAre(HasSubstr("16 folders deep")));
  for (int i = 0; i < 30; ++i) write("many/" + std::to_string(i));
  options_.most_entries = 20;
  EXPECT_THAT(scan(Store::kFolder).problems, ::testing::Contains(HasSubstr("more than 20")));
}

TEST_F(StoreScanTest, NeverOpensWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((directory_ / "pipe.gguf").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (directory_ / "s.gguf").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const StoreScan found = scan(Store::kFolder);
  ::close(listener);
  EXPECT_THAT(found.models, IsEmpty());
  EXPECT_THAT(found.problems, SizeIs(2));
}

TEST_F(StoreScanTest, ReportsNamesThatAreNotText) {
  write("\xff\xfe.gguf");
  write("fine.gguf");
  const StoreScan found = scan(Store::kFolder);
  EXPECT_THAT(names(found), ElementsAre("fine:latest"));
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("not UTF-8")));
}

TEST_F(StoreScanTest, LeavesWhatIsBeingWrittenForTheNextLook) {
  const std::string path = write("tiny.gguf");
  write("other.gguf");
  write("other.gguf.aria2");
  write("third.gguf.part");
  const StoreScan settled = scan(Store::kFolder);
  EXPECT_THAT(names(settled), ElementsAre("tiny:latest"));

  options_.now_ns = files_->info(path)->modified_ns + 500'000'000;
  const StoreScan early = scan(Store::kFolder);
  EXPECT_THAT(early.models, IsEmpty());
  EXPECT_TRUE(early.again_soon);

  options_.known.insert(path);
  EXPECT_THAT(names(scan(Store::kFolder)), ElementsAre("tiny:latest"));
}

TEST_F(StoreScanTest, SeesWhetherAnythingChanged) {
  write("a/tiny.gguf");
  const StoreScan first = scan(Store::kFolder);
  EXPECT_FALSE(first.again_soon);
  EXPECT_FALSE(has_changed(*files_, first.watched));
  write("a/more.gguf");
  EXPECT_TRUE(has_changed(*files_, first.watched));
  const StoreScan none = scan(Store::kFolder, "later");
  EXPECT_EQ(none.root, StoreScan::Root::kMissing);
  EXPECT_FALSE(has_changed(*files_, none.watched));
  write("later/tiny.gguf");
  EXPECT_TRUE(has_changed(*files_, none.watched));
}

// As for a user without rights, which a test that runs as root could not see.
class LockedFiles : public testing::ForwardingFiles {
 public:
  explicit LockedFiles(std::string path) : path_{std::move(path)} {}
  Result<std::vector<std::string>> list(const std::string& directory) const override {
    if (directory == path_) {
      return fail(ErrorCode::kUnavailable, "list " + directory + ": permission denied");
    }
    return ForwardingFiles::list(directory);
  }

 private:
  std::string path_;
};

TEST_F(StoreScanTest, SaysWhatToDoAboutFoldersThatCannotBeRead) {
  write("locked/tiny.gguf");
  write("open/tiny.gguf");
  const LockedFiles inner{directory_ / "locked"};
  files_ = &inner;
  const StoreScan found = scan(Store::kFolder);
  EXPECT_THAT(names(found), ElementsAre("tiny:latest"));
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("the right to read")));

  const LockedFiles outer{directory_.path()};
  files_ = &outer;
  const StoreScan locked = scan(Store::kOllama);
  EXPECT_EQ(locked.root, StoreScan::Root::kUnreadable);
  EXPECT_THAT(locked.problems, ElementsAre(HasSubstr("usermod")));
}

struct RootCase {
  std::string name;
  std::map<std::string, std::string> environment;
  std::vector<std::string> roots;
};
class StoreRoots : public ::testing::TestWithParam<RootCase> {};

TEST_P(StoreRoots, AreWhereTheProgramsKeepThem) {
  std::vector<std::string> found;
  for (const StoreRoot& root : store_roots({"huggingface", "ollama", "lmstudio"}, {"/srv/models/"},
                                           GetParam().environment)) {
    found.push_back(std::string{name_of(root.store)} + " " + root.path);
  }
  std::vector<std::string> expected = GetParam().roots;
  expected.push_back("folder /srv/models");
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(
    Environments, StoreRoots,
    ::testing::Values(
        RootCase{"Home",
                 {{"HOME", "/home/a"}},
                 {"huggingface /home/a/.cache/huggingface/hub", "ollama /home/a/.ollama/models",
                  "ollama /usr/share/ollama/.ollama/models", "lmstudio /home/a/.lmstudio/models",
                  "lmstudio /home/a/.cache/lm-studio/models"}},
        RootCase{"Moved",
                 {{"HF_HOME", "~/hf"}, {"HOME", "/h"}, {"OLLAMA_MODELS", "/o"}},
                 {"huggingface /h/hf/hub", "ollama /o", "lmstudio /h/.lmstudio/models",
                  "lmstudio /h/.cache/lm-studio/models"}},
        RootCase{"CacheFirst", {{"HF_HUB_CACHE", "/c"}, {"HF_HOME", "/hf"}}, {"huggingface /c"}},
        RootCase{"Nothing", {{"OLLAMA_MODELS", "relative"}}, {}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth
