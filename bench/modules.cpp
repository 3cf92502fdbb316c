// SPDX-License-Identifier: Apache-2.0
//
// What it costs to use a text's state at another position than it was evaluated at, with nothing
// before it: the divergence of the first answer token's distribution from that of a prompt that is
// evaluated in full, and how often the likeliest token is the same in the 16 steps after it (along
// the full prompt's own answer). `from 0` uses the text's first block too, which the server leaves
// out.
//
//   hearth-bench-modules MODEL.gguf [THREADS]
#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backends.h"
#include "engine/context.h"
#include "engine/engine_log.h"
#include "engine/model.h"
#include "engine/vocabulary.h"

namespace hearth::engine {
namespace {

constexpr int kBlock = 64;
constexpr int kSteps = 16;
constexpr int kCells = 2048;
using Tokens = std::vector<Token>;
using Row = std::vector<float>;

struct Case {
  const char* name;
  const char* before;
  const char* text;
  const char* question;
};

constexpr std::array<Case, 4> kCases{{
    {"house", "You are the butler of a large house by the sea. Answer in one sentence.\n\n",
     "The rules of the house. Breakfast is served at eight in the small room, on Sundays at nine. "
     "The dog sleeps in the kitchen and is fed by the cook, never at the table. Shoes are left at "
     "the door when it rains. The blue bedroom is kept for guests; its heating is turned on the "
     "day before they come. The library closes at ten, and whoever leaves last puts out the fire. "
     "Letters are collected at noon on weekdays. The gardener comes on Tuesdays and Fridays and "
     "has the key to the shed. The wine for dinner is brought up two hours before. In winter the "
     "pipes of the north wing are emptied, so its baths cannot be used between December and March. "
     "The boat may be taken out only when two people go, and the lamp on the pier is lit at dusk. "
     "The piano is tuned in May. Nobody telephones after eleven at night, except to the doctor, "
     "whose number hangs beside the clock in the hall. Children are in bed by half past eight. The "
     "silver is polished on the first Monday of the month, and the carpets are beaten in April.\n",
     "\nQuestion: When does the gardener come?\nAnswer: The gardener comes on"},
    {"tools", "Today is a Wednesday. The user lives in Bergen and prefers short answers.\n\n",
     "You can call these functions. get_weather(city, day): the forecast of a day within the next "
     "week, with temperature in degrees, wind in metres per second and the chance of rain. "
     "set_timer(minutes, label): rings after so many minutes, at most 600. add_note(title, text): "
     "keeps a note; an older one of the same title is replaced. find_note(words): the three notes "
     "that fit best. play_music(query, room): plays in the kitchen, the living room or the office; "
     "without a room, where the user is. set_light(room, level): from 0, which is off, to 100. "
     "send_message(person, text): to somebody in the address book; ask before you send. "
     "read_calendar(day): the appointments of a day with their places. add_appointment(day, time, "
     "title): fails when there is one already. Call a function by a line that holds its name and "
     "its arguments as JSON and nothing else, and wait for its result before you go on. Call none "
     "when you know the answer. Never call the same function twice with the same arguments. When a "
     "function fails, say so in one sentence and propose what else could be done.\n",
     "\nUser: Wake me in twenty minutes.\nCall: {\"name\": \""},
    {"story", "Below is the first chapter of a book. Read it, then answer.\n\n",
     "The lighthouse keeper had three daughters, and each of them wanted something else from the "
     "sea. Marta, the eldest, wanted ships: she knew every flag and wrote down each vessel that "
     "passed in a green book. Ines wanted fish, and got up before the sun to lay her nets behind "
     "the reef, where the water was still. The youngest, Lucia, wanted nothing but the sound of "
     "it, and sat on the steps with her eyes closed until she was called for supper. One evening "
     "in October the lamp would not light. The keeper took it apart on the kitchen table, and "
     "found that the wick had been eaten by mice. There was no other on the island. Marta looked "
     "into her green book and said that the mail boat from Port Anselm was due at nine, and that "
     "it would pass close to the reef. Ines had tallow from the winter before. And Lucia, who had "
     "listened to the sea for so long, said that the wind was about to turn. So they cut up the "
     "keeper's Sunday shirt for a wick, soaked it in tallow, and carried the burning pot up the "
     "ninety-one steps, one after the other, each with her hand before the flame.\n",
     "\nQuestion: What did they use as a wick?\nAnswer: They used the keeper's"},
    {"code", "Review the following change with care. Name one defect.\n\n",
     "def load_prices(path):\n    \"\"\"Reads a table of prices: one product a line, name and "
     "price in cents.\"\"\"\n    prices = {}\n    with open(path, encoding=\"utf-8\") as lines:\n"
     "        for number, line in enumerate(lines, start=1):\n            line = line.strip()\n"
     "            if not line or line.startswith(\"#\"):\n                continue\n"
     "            name, _, cents = line.rpartition(\" \")\n            if not cents.isdigit():\n"
     "                raise ValueError(f\"{path}:{number}: no price: {line!r}\")\n"
     "            prices[name] = int(cents)\n    return prices\n\n\n"
     "def total(basket, prices, discount=0):\n    \"\"\"The sum of a basket in cents, after a "
     "discount in percent.\"\"\"\n    amount = 0\n    for name, count in basket.items():\n"
     "        if name not in prices:\n            raise KeyError(f\"unknown product: {name}\")\n"
     "        amount += prices[name] * count\n    return amount * (100 - discount) // 100\n\n\n"
     "def receipt(basket, prices, discount=0):\n    rows = []\n"
     "    for name in sorted(basket):\n        rows.append(f\"{basket[name]:>3} x {name:<20} "
     "{prices[name]:>8}\")\n    rows.append(f\"{'total':<26} {total(basket, prices, "
     "discount):>8}\")\n    return \"\\n\".join(rows)\n",
     "\nQuestion: What does the function total return?\nAnswer: It returns"},
}};

double divergence(const Row& p, const Row& q) {
  const auto log_sum = [](const Row& row) {
    const double most = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float value : row) sum += std::exp(value - most);
    return most + std::log(sum);
  };
  const double of_p = log_sum(p);
  const double of_q = log_sum(q);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double log_p = p[i] - of_p;
    sum += std::exp(log_p) * (log_p - (q[i] - of_q));
  }
  return sum;
}

Token best_of(const Row& row) {
  return static_cast<Token>(std::max_element(row.begin(), row.end()) - row.begin());
}

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "{}\n", error.message());
  std::exit(EXIT_FAILURE);
}

template <class T>
T must(Result<T> result) {
  if (!result) give_up(result.error());
  return std::move(*result);
}

class Bench {
 public:
  Bench(const std::string& path, int threads) : threads_{threads} {
    vocabulary_ = must(Vocabulary::open({path}));
    model_ = std::make_unique<Model>(must(Model::load({path}, *vocabulary_, Repack::kYes, {})));
  }

  void run(const Case& with) {
    Tokens prompt = vocabulary_->tokenize(with.before, AddSpecial::kYes);
    const int begin = static_cast<int>(prompt.size());
    const Tokens text = vocabulary_->tokenize(with.text, AddSpecial::kNo);
    prompt.insert(prompt.end(), text.begin(), text.end());
    const Tokens question = vocabulary_->tokenize(with.question, AddSpecial::kNo);
    prompt.insert(prompt.end(), question.begin(), question.end());

    const auto full = context();
    std::vector<Row> wanted{evaluate(*full, prompt, 0)};
    Tokens answer;
    for (int step = 0; step < kSteps; ++step) {
      answer.push_back(best_of(wanted.back()));
      wanted.push_back(evaluate(*full, std::span{answer}.last(1), after(prompt, step)));
    }
    for (const int first : {1, 0}) splice({with.name, prompt, text, answer, wanted, begin}, first);
  }

 private:
  struct Full {
    const char* name;
    const Tokens& prompt;
    const Tokens& text;
    const Tokens& answer;
    const std::vector<Row>& wanted;
    int begin;
  };

  static int after(const Tokens& prompt, int step) {
    return static_cast<int>(prompt.size()) + step;
  }
  std::unique_ptr<Context> context() {
    return must(Context::create(*model_, {kCells, 2}, threads_, abort_));
  }
  Row evaluate(Context& c, std::span<const Token> tokens, int position) {
    c.clear();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      c.add(tokens[i], position + static_cast<int>(i), 0,
            i + 1 == tokens.size() ? Logits::kYes : Logits::kNo);
    }
    if (c.decode() != Decoded::kDone) give_up(Error{ErrorCode::kInternal, "decode failed"});
    const float* values = llama_get_logits_ith(c.handle(), -1);
    return {values, values + vocabulary_->size()};
  }

  // What begins a text in this vocabulary begins the one that is evaluated alone, too.
  void splice(const Full& full, int first) {
    Tokens alone = vocabulary_->tokenize("", AddSpecial::kYes);
    const int special = static_cast<int>(alone.size());
    if (first * kBlock < special) return;
    alone.insert(alone.end(), full.text.begin(), full.text.end());
    const auto source = context();
    evaluate(*source, alone, 0);

    const auto c = context();
    const int shift = full.begin - special;
    const int last = static_cast<int>(alone.size()) / kBlock;
    const std::span<const Token> prompt{full.prompt};
    evaluate(*c, prompt.first(static_cast<std::size_t>(first * kBlock + shift)), 0);
    for (int block = first; block < last; ++block) {
      const auto state = must(source->save_block(0, block * kBlock, kBlock));
      const auto loaded = c->load_shifted_block(0, block * kBlock, kBlock, shift,
                                                std::as_bytes(std::span{state.base}));
      if (!loaded) give_up(loaded.error());
    }
    const int done = last * kBlock + shift;
    Row got = evaluate(*c, prompt.subspan(static_cast<std::size_t>(done)), done);
    const double kl = divergence(full.wanted[0], got);
    int agreed = 0;
    for (int step = 0; step < kSteps; ++step) {
      agreed += best_of(got) == full.answer[static_cast<std::size_t>(step)] ? 1 : 0;
      got = evaluate(*c, std::span{full.answer}.subspan(static_cast<std::size_t>(step), 1),
                     after(full.prompt, step));
    }
    fmt::print("{:<8} {:>6} {:>7} {:>7} {:>8.4f} {:>6}/{}\n", full.name, first, full.prompt.size(),
               (last - first) * kBlock, kl, agreed, kSteps);
  }

  CpuThreads threads_;
  AbortFlags abort_;
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<Model> model_;
};

}  // namespace
}  // namespace hearth::engine

int main(int argc, char** argv) {
  using namespace hearth::engine;
  if (argc < 2) {
    fmt::print(stderr, "usage: hearth-bench-modules MODEL.gguf [THREADS]\n");
    return EXIT_FAILURE;
  }
  route_engine_log();
  if (const auto loaded = load_backends(); !loaded) give_up(loaded.error());
  Bench bench{argv[1], argc > 2 ? std::atoi(argv[2]) : 0};
  fmt::print("{:<8} {:>6} {:>7} {:>7} {:>8} {:>9}\n", "text", "from", "prompt", "saved", "KL",
             "agreed");
  for (const Case& each : kCases) bench.run(each);
}
