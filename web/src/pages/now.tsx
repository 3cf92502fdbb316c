// SPDX-License-Identifier: Apache-2.0
import { Figures } from "../parts/figures";
import { Live } from "../parts/live";
import { ModelList } from "../parts/model_list";

// Models and how warm they are; what is being answered.
export function Now() {
  return (
    <div class="page now">
      <h1 class="visually-hidden">Now</h1>
      <Figures />
      <ModelList />
      <Live />
    </div>
  );
}
