import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { Conversation } from "@hlvm/conversation/conversation";
import wholeSession from "@hlvm/conversation/fixtures/whole-session.json";
import { EventSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Router } from "wouter";
import { ItemView } from "./item-view.tsx";

it("tells a whole session as it does", async () => {
  const conversation = new Conversation();
  conversation.add((wholeSession.events as unknown as JsonValue[]).map((event) => fromJson(EventSchema, event)));
  const told = conversation.items.map((item) =>
    visibleTextOf(renderToStaticMarkup(createElement(Router, { ssrPath: "/", children: createElement(ItemView, { item }) }))),
  );
  await expect(`${told.join("\n")}\n`).toMatchFileSnapshot("../../../../libs/conversation/fixtures/whole-session.page.txt");
});

/** What a person reads, an item a line; how long ago it was changes. */
function visibleTextOf(markup: string): string {
  return markup
    .replace(/<time.*?<\/time>/g, "")
    .replace(/<svg.*?<\/svg>/g, "")
    .replace(/<[^>]+>/g, " ")
    .replace(/&(#x27|quot|gt|lt|amp);/g, (_, name: string) => ({ "#x27": "'", quot: '"', gt: ">", lt: "<", amp: "&" })[name]!)
    .replace(/\s+/g, " ")
    .trim();
}
