import { lexer, type Token, type Tokens } from "marked";
import { Fragment, type ReactNode, useMemo } from "react";

/** Deeper content is shown as plain text, so that a hostile text cannot exhaust the stack. */
const depthMax = 20;

/**
 * Renders untrusted Markdown. Only React elements are made, from parsed tokens: HTML of the text is shown as text, an image
 * is shown by its name and never loaded, and a link opens only an http or https address.
 */
export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => parse(text), [text]);
  if (tokens === null) return <p className="agent-text">{text}</p>;
  return (
    <div className="markdown" data-testid="markdown">
      <Blocks tokens={tokens} depth={0} />
    </div>
  );
}

/** Null if the parser cannot handle the text. */
function parse(text: string): Token[] | null {
  try {
    return lexer(text);
  } catch {
    return null;
  }
}

interface Props {
  tokens: readonly Token[] | undefined;
  depth: number;
}

function Blocks({ tokens = [], depth }: Props) {
  return keyed(tokens, (token) => <Block token={token} depth={depth} />);
}

function Block({ token, depth }: { token: Token; depth: number }) {
  if (depth > depthMax) return <p className="agent-text">{token.raw}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      // The page has its own headings, so one of a text is a bold line.
      return (
        <p className="markdown-heading agent-text">
          <Inlines tokens={token.tokens} depth={depth + 1} />
        </p>
      );
    case "code":
      return <pre className="agent-text code-block">{token.text}</pre>;
    case "hr":
      return <hr />;
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={token.tokens} depth={depth + 1} />
        </blockquote>
      );
    case "list":
      return <List list={token as Tokens.List} depth={depth + 1} />;
    case "table":
      return <Table table={token as Tokens.Table} depth={depth + 1} />;
    case "paragraph":
    case "text":
      return (
        <p className="agent-text">
          <Inlines tokens={token.tokens ?? [token]} depth={depth + 1} />
        </p>
      );
    default:
      return <p className="agent-text">{token.raw}</p>;
  }
}

function List({ list: { ordered, start, items }, depth }: { list: Tokens.List; depth: number }) {
  const rows = keyed(items, ({ task, checked, tokens }) => (
    <li>
      {task && <span aria-hidden="true">{checked ? "☑ " : "☐ "}</span>}
      <Blocks tokens={tokens.filter(({ type }) => type !== "checkbox")} depth={depth} />
    </li>
  ));
  return ordered ? <ol start={typeof start === "number" ? start : 1}>{rows}</ol> : <ul>{rows}</ul>;
}

function Table({ table: { header, rows }, depth }: { table: Tokens.Table; depth: number }) {
  return (
    <div className="markdown-table">
      <table>
        <thead>
          <tr>
            {keyed(header, ({ tokens }) => (
              <th className="agent-text">
                <Inlines tokens={tokens} depth={depth} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {keyed(rows, (row) => (
            <tr>
              {keyed(row, ({ tokens }) => (
                <td className="agent-text">
                  <Inlines tokens={tokens} depth={depth} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inlines({ tokens = [], depth }: Props) {
  return keyed(tokens, (token) => <Inline token={token} depth={depth} />);
}

function Inline({ token, depth }: { token: Token; depth: number }) {
  if (depth > depthMax) return token.raw;
  const inner = "tokens" in token ? token.tokens : undefined;
  const children = () => <Inlines tokens={inner} depth={depth + 1} />;
  switch (token.type) {
    case "strong":
      return <strong>{children()}</strong>;
    case "em":
      return <em>{children()}</em>;
    case "del":
      return <del>{children()}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={token.href}>{children()}</Link>;
    case "image":
      return <span className="soft">[image: {token.text || token.href}]</span>;
    case "text":
      return inner ? children() : token.text;
    case "escape":
      return token.text;
    default:
      return token.raw;
  }
}

/** The address is the tooltip, because the text of a link can name another one. */
function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!/^https?:\/\//i.test(href)) {
    return (
      <>
        {children} <span className="soft">({href})</span>
      </>
    );
  }
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** Renders a list whose items never change their place. */
function keyed<T>(items: readonly T[], render: (item: T) => ReactNode): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: the place is the identity of a token in its text
  return items.map((item, i) => <Fragment key={i}>{render(item)}</Fragment>);
}
