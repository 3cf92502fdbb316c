// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { keyWanted } from "./api";
import { Chat } from "./pages/chat";
import { Downloads } from "./pages/downloads";
import { History } from "./pages/history";
import { Lab } from "./pages/lab";
import { MemoryPage } from "./pages/memory";
import { Now } from "./pages/now";
import { Waiting } from "./pages/waiting";
import { ActionDialog } from "./parts/action_dialog";
import { Icon } from "./parts/icon";
import { KeyForm, Status } from "./parts/session";
import { Toasts } from "./parts/toasts";
import { page } from "./route";
import { start } from "./store";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/pages.css";

const PAGES = {
  now: { title: "Now", view: Now },
  history: { title: "History", view: History },
  waiting: { title: "Waiting", view: Waiting },
  memory: { title: "Memory", view: MemoryPage },
  downloads: { title: "Downloads", view: Downloads },
  lab: { title: "Lab", view: Lab },
  chat: { title: "Chat", view: Chat },
};

type PageName = keyof typeof PAGES;

function current(): PageName {
  return page.value in PAGES ? (page.value as PageName) : "now";
}

function Navigation() {
  return (
    <nav aria-label="Pages">
      <ul>
        {Object.entries(PAGES).map(([name, { title }]) => (
          <li key={name}>
            <a href={`#/${name}`} aria-current={name === current() ? "page" : undefined}>
              <Icon name={name} />
              <span>{title}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function App() {
  const { title, view: View } = PAGES[current()];
  useEffect(() => { document.title = `${title} · Hearth`; }, [title]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>Skip to the page</a>
      <header class="top">
        <a class="brand" href="#/now"><Icon name="flame" /><span>Hearth</span></a>
        <Navigation />
        <Status />
      </header>
      <main id="main" tabIndex={-1}>{keyWanted.value ? <KeyForm /> : <View />}</main>
      <ActionDialog />
      <Toasts />
    </>
  );
}

// The address's hash is where we are, so a skip link may not change it.
function skip(event: Event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

start();
render(<App />, document.getElementById("app")!);
