import { lexer, type Token, type Tokens } from "marked";
import { memo, useEffect, useState, type ReactNode } from "react";
import { GrowingBlocks } from "./growing-blocks.ts";
import { shownProse } from "./shown-text.ts";
import styles from "./markdown.module.css";

/** So long a text is shown as it is: no person reads it, and lexing it would take long. */
const LONGEST = 200_000;

/**
 * What a model wrote. Tokens become elements and never HTML, so there is nothing to sanitise; links lead to http(s) only and
 * show where; images are not loaded, since an address can carry data out.
 */
export const Markdown = memo(function Markdown({ text, isOpen }: { readonly text: string; readonly isOpen: boolean }) {
  if (text.length > LONGEST) return <pre className={styles.plain}>{shownProse(text)}</pre>;
  return (
    <div className={styles.markdown}>{isOpen ? <OpenBlocks text={shownProse(text)} /> : <ClosedBlocks text={shownProse(text)} />}</div>
  );
});

/** Loaded with the first text that streams; until then what is half written is shown as it is. */
let closeText = (open: string): string => open;
let isClosing = false;

async function loadClosing(): Promise<void> {
  const { default: remend } = await import("remend");
  closeText = (open) => remend(open, { linkMode: "text-only", images: false });
}

function ClosedBlocks({ text }: { readonly text: string }) {
  return shownBlocks(text, lexer);
}

function OpenBlocks({ text }: { readonly text: string }) {
  useEffect(() => {
    if (!isClosing) void loadClosing();
    isClosing = true;
  }, []);
  const [growing] = useState(() => new GrowingBlocks((open) => closeText(open)));
  return shownBlocks(text, (given) => growing.blocksOf(given));
}

function shownBlocks(text: string, lex: (text: string) => readonly Token[]): ReactNode {
  try {
    return blocks(lex(text));
  } catch {
    // Text that the lexer gives up on, such as thousands of quotes in each other, is text all the same.
    return <p className={styles.plain}>{text}</p>;
  }
}

function blocks(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, at) => <Block key={at} token={token} />);
}

const Block = memo(function Block({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return (
        <p className={styles.heading} role="heading" aria-level={Math.min(6, (token as Tokens.Heading).depth + 2)}>
          {inline(token.tokens)}
        </p>
      );
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "code":
      return (
        <pre className={styles.code} tabIndex={0} aria-label={(token as Tokens.Code).lang || "Code"} role="group">
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote className={styles.quote}>{blocks(token.tokens ?? [])}</blockquote>;
    case "list": {
      const { ordered, start, items } = token as Tokens.List;
      const entries = items.map((item, at) => (
        <li key={at}>
          {item.task ? <span>{item.checked === true ? "☑ " : "☐ "}</span> : null}
          {blocks(item.tokens)}
        </li>
      ));
      return ordered ? <ol start={Number(start) || 1}>{entries}</ol> : <ul>{entries}</ul>;
    }
    case "table":
      return <Table {...(token as Tokens.Table)} />;
    case "hr":
      return <hr />;
    case "text":
      return token.tokens === undefined ? <span>{(token as Tokens.Text).text}</span> : <span>{inline(token.tokens)}</span>;
    default:
      return <span className={styles.plain}>{token.raw}</span>;
  }
});

function Table({ header, rows }: Tokens.Table) {
  return (
    <div className={styles.scrolls} tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at}>{inline(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>{inline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, at) => <Inline key={at} token={token} />);
}

function Inline({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code className={styles.inlineCode}>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <ShownLink href={(token as Tokens.Link).href}>{inline(token.tokens)}</ShownLink>;
    case "image": {
      const { href, text } = token as Tokens.Image;
      return <ShownLink href={href}>{`image${text === "" ? "" : ` "${text}"`}: ${href}`}</ShownLink>;
    }
    case "text":
      return token.tokens === undefined ? (token as Tokens.Text).text : inline(token.tokens);
    case "escape":
      return (token as Tokens.Escape).text;
    default:
      return token.raw;
  }
}

function ShownLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return <span title={href}>{children}</span>;
  return (
    <a href={url.href} rel="noreferrer noopener" target="_blank" title={url.href}>
      {children} <span className={styles.host}>({url.host})</span>
    </a>
  );
}
