// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace hearth::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// One of each: an alias, words, a file, a flag, arguments that end and that go on, verbs below a
// verb, and something hidden.
class Completion : public testing::Test {
 protected:
  Completion() {
    app_.add_option("--host", text_, "The server: it's [here]")->type_name("HOST");
    CLI::App* warm = app_.add_subcommand("warm", "Warm it");
    warm->alias("heat");
    warm->add_option("MODEL", text_, "Which")->required();
    warm->add_option("--layer,-l", text_, "Layer")->check(CLI::IsMember({"weights", "pages"}));
    warm->add_flag("--now", flag_, "At once");
    app_.add_subcommand("rm", "Remove")->add_option("MODEL", list_, "Which ones");
    app_.add_subcommand("import", "Add")->add_option("FILE", text_, "What")->type_name("FILE");
    CLI::App* keys = app_.add_subcommand("keys", "Who may ask");
    keys->add_option("--data", text_, "Where")->type_name("DIR");
    keys->fallthrough();
    keys->add_subcommand("add", "A new one")->add_option("NAME", text_, "Whose");
    app_.add_subcommand("pull", "Not yet")->group("");
  }

  Command tree() const { return command_tree(app_); }

  CLI::App app_{"Test", "hearth"};
  std::string text_;
  std::vector<std::string> list_;
  bool flag_ = false;
};

TEST_F(Completion, SeesTheTree) {
  const Command root = tree();
  std::vector<std::string> paths;
  for (const Command* command : root.all()) paths.push_back(command->path);
  EXPECT_THAT(paths, ElementsAre("", "warm", "rm", "import", "keys", "keys add"));
  const Command& warm = root.verbs.front();
  EXPECT_THAT(warm.names, ElementsAre("warm", "heat"));
  ASSERT_EQ(warm.places.size(), 1U);
  EXPECT_EQ(warm.places.front().value.of, ValueKind::Of::kModels);
  EXPECT_FALSE(warm.places.front().repeats);
  EXPECT_TRUE(root.verbs[1].places.front().repeats);
  EXPECT_EQ(root.verbs[2].places.front().value.of, ValueKind::Of::kFiles);
  ASSERT_EQ(warm.options.size(), 3U);  // with --help
  EXPECT_THAT(warm.options[1].names, ElementsAre("-l", "--layer"));
  EXPECT_THAT(warm.options[1].value->words, ElementsAre("weights", "pages"));
  EXPECT_FALSE(warm.options[2].value);
}

TEST_F(Completion, IsWrittenForBash) {
  const std::string script = bash_completion(tree());
  EXPECT_THAT(script, HasSubstr("'/warm') path='warm' ;;"));
  EXPECT_THAT(script, HasSubstr("'/heat') path='warm' ;;"));
  EXPECT_THAT(script, HasSubstr("'keys/add') path='keys add' ;;"));
  EXPECT_THAT(script, HasSubstr("*/--host) kind='' ;;"));
  EXPECT_THAT(script, HasSubstr("'keys add'/--data) kind=directories ;;"));
  EXPECT_THAT(script, HasSubstr("'warm'/--layer) kind=words words='weights pages' ;;"));
  EXPECT_THAT(script, HasSubstr("'rm/'*) kind=models ;;"));
  EXPECT_THAT(script, HasSubstr("'import/0') kind=files ;;"));
  EXPECT_THAT(script, HasSubstr("complete -F _hearth hearth"));
  EXPECT_THAT(script, Not(HasSubstr("pull")));
}

TEST_F(Completion, IsWrittenForZsh) {
  const std::string script = zsh_completion(tree());
  EXPECT_THAT(script, HasSubstr("#compdef hearth"));
  EXPECT_THAT(script, HasSubstr(R"('--host=[The server\: it'\''s \[here\]]:HOST: ')"));
  EXPECT_THAT(script, HasSubstr("'(-l --layer)--layer=[Layer]:one of:(weights pages)'"));
  EXPECT_THAT(script, HasSubstr("'--now[At once]'"));
  EXPECT_THAT(script, HasSubstr("'*:MODEL:_hearth_models'"));
  EXPECT_THAT(script, HasSubstr("'1:FILE:_files'"));
  EXPECT_THAT(script, HasSubstr("(warm|heat) _hearth__warm ;;"));
  EXPECT_THAT(script, HasSubstr("(add) _hearth__keys_add ;;"));
  EXPECT_THAT(script, Not(HasSubstr("pull")));
}

TEST_F(Completion, IsWrittenForFish) {
  const std::string script = fish_completion(tree());
  EXPECT_THAT(script, HasSubstr(R"(-n '__hearth_at \'keys add\' \'*\'' -l data -x)"));
  EXPECT_THAT(script, HasSubstr("complete -c hearth -l host -x -d 'The server: it\\'s [here]'"));
  EXPECT_THAT(script, HasSubstr(R"(-n '__hearth_at \'warm\' \'*\'' -s l -l layer -x -a 'weights)"));
  EXPECT_THAT(script, HasSubstr(R"(-n '__hearth_at \'rm\' \'*\'' -a '(__hearth_models)')"));
  EXPECT_THAT(script, HasSubstr(R"(-n '__hearth_at \'import\' \'0\'' -F)"));
  EXPECT_THAT(script, HasSubstr("case '/warm' '/heat'"));
  EXPECT_THAT(script, HasSubstr("case '*/--host' 'warm/-l' 'warm/--layer'"));
  EXPECT_THAT(script, Not(HasSubstr("pull")));
}

}  // namespace
}  // namespace hearth::cli
