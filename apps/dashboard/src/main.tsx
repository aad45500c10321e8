import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { connect } from "./lib/daemon.ts";
import { PageContext } from "./lib/page-context.ts";
import { PageStore } from "./lib/store.ts";
import { chooseTheme, chosenTheme } from "./lib/theme.ts";
import "./styles/main.css";

/** Once per frame; where no frames are drawn (a tab in the background), by the clock, so that its title stays true. */
function nextFrame(flush: () => void): void {
  let flushed = false;
  const once = (): void => {
    if (flushed) return;
    flushed = true;
    flush();
  };
  requestAnimationFrame(once);
  setTimeout(once, 250);
}

const root = document.getElementById("root");
if (!root) throw new Error("the page has no #root");

chooseTheme(chosenTheme());
const store = new PageStore(nextFrame, Date.now);
const daemon = connect(store);

createRoot(root).render(
  <StrictMode>
    <PageContext value={{ store, daemon }}>
      <App />
    </PageContext>
  </StrictMode>,
);
