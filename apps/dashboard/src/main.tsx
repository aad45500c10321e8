import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { connect } from "./lib/daemon.ts";
import { PageContext } from "./lib/page-context.ts";
import { PageStore } from "./lib/store.ts";
import { applyTheme, storedTheme } from "./lib/theme.ts";
import "./styles/main.css";

/** Flushes in the next frame. A tab in the background draws no frames, so a timer keeps its title current. */
function nextFrame(flush: () => void): void {
  let isFlushed = false;
  const once = (): void => {
    if (isFlushed) return;
    isFlushed = true;
    flush();
  };
  requestAnimationFrame(once);
  setTimeout(once, 250);
}

const root = document.getElementById("root");
if (!root) throw new Error("the page has no #root element");

applyTheme(storedTheme());
const store = new PageStore(nextFrame, Date.now);
const daemon = connect(store);

createRoot(root).render(
  <StrictMode>
    <PageContext value={{ store, daemon }}>
      <App />
    </PageContext>
  </StrictMode>,
);
