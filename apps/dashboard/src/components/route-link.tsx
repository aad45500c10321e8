import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { hrefOf, navigate } from "../lib/navigation.ts";
import type { Route } from "../lib/route.ts";

interface Props extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href" | "onClick"> {
  to: Partial<Route>;
}

/** A link within the page. A click with a modifier key opens a new tab, as for any link. */
export function RouteLink({ to, ...rest }: Props) {
  const open = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(to);
  };
  return <a {...rest} href={hrefOf(to)} onClick={open} />;
}
