import { expect, it } from "vitest";
import { csvLine } from "./csv-line.ts";

it("quotes what separates, and nothing else", () => {
  expect(csvLine(["a b", 'say "hi"', "1,2", "", " padded "])).toBe('a b,"say ""hi""","1,2",," padded "\r\n');
});

it("lets no value become a formula", () => {
  const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "|cmd", "＝1", " =1", "\t=1", "\r=1", '=HYPERLINK("http://x","y")'];
  for (const formula of formulas) expect(csvLine([formula])).toMatch(/^"?'/);
  expect(csvLine(["a=1", "1-1"])).toBe("a=1,1-1\r\n");
});

it("keeps a record on one line, with nothing hidden in it", () => {
  expect(csvLine(["a\r\nb\u001b[2J\u202e"])).toBe("a\\u000d\\u000ab\\u001b[2J\\u202e\r\n");
});
