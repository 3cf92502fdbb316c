// SPDX-License-Identifier: Apache-2.0
import { actionOf } from "../actions";
import { caseOf, casesOf, type Case } from "../findings";
import { duration, shortName } from "../format";
import { isWhole, rows } from "../history";
import { link } from "../route";
import { doctor } from "../store";
import { ActionButton } from "./action_dialog";

function One({ found }: { found: Case }) {
  const action = actionOf(found.remedy);
  return (
    <li>
      <div class="cost">
        <strong>{found.perDay > 0 ? duration(found.perDay * 1000) : "–"}</strong>
        <small>{found.perDay > 0 ? "a day" : "not reckoned"}</small>
      </div>
      <div>
        <h3><span class={`swatch fill ${found.layer ?? "other"}`} aria-hidden="true" /> {found.code}
          {found.model && <span class="muted"> {shortName(found.model)}</span>}</h3>
        <p>{found.worst}</p>
        {found.remedy && <p class="muted">{found.remedy}</p>}
        <p class="muted">{found.replies} {found.replies === 1 ? "reply" : "replies"}
          {found.example && <> · <a href={link("history", found.example)}>the worst of them</a></>}</p>
      </div>
      {action && <div class="do"><ActionButton action={action} /></div>}
    </li>
  );
}

const LEAST_PER_DAY = 0.1; // seconds; less is counted and not shown one by one

export function Findings() {
  const told = doctor.use()?.findings ?? [];
  const found = casesOf(rows.value, Date.now());
  const felt = found.filter((one) => one.perDay >= LEAST_PER_DAY);
  const cases = [...felt, ...told.map(caseOf)];
  const rest = found.length - felt.length;
  return (
    <section class="card" aria-labelledby="doctor-title">
      <header>
        <h2 id="doctor-title">Worth a change</h2>
        <p class="muted"><code>hearth doctor</code> looks at the machine too</p>
      </header>
      {cases.length + rest === 0 && isWhole.value && <p class="muted">Nothing: no wait that would not have been short or the first.</p>}
      <ol class="findings">{cases.map((one) => <One key={one.code + one.model + one.worst} found={one} />)}</ol>
      {rest > 0 && <p class="muted">{rest} more cost less than {duration(LEAST_PER_DAY * 1000)} a day.</p>}
    </section>
  );
}
