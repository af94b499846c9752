import type { JsonValue } from "@hlvm/canonical-json/canonical-json";

/** JSON with every text in it mapped, a member of an object together with its name; what is no JSON is mapped as a text. */
export function mapTexts(json: string, map: (text: string) => string): string {
  let value: JsonValue;
  try {
    value = JSON.parse(json) as JsonValue;
  } catch {
    return map(json);
  }
  const mapped = mapValue(value, map);
  return mapped === value ? json : JSON.stringify(mapped);
}

function mapValue(value: JsonValue, map: (text: string) => string): JsonValue {
  if (typeof value === "string") return map(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => mapValue(item, map));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const members = Object.entries(value).map(([name, item]) => [map(name), mapMember(name, item, map)] as const);
  const isSame = members.every(([name, item]) => Object.hasOwn(value, name) && item === (value as Record<string, JsonValue>)[name]);
  return isSame ? value : Object.fromEntries(members);
}

/** `{"password": "…"}`: the name tells what the value is. */
function mapMember(name: string, item: JsonValue, map: (text: string) => string): JsonValue {
  if (typeof item !== "string" || !/^[\w-]{1,64}$/.test(name)) return mapValue(item, map);
  const before = `${name}="`;
  const together = map(`${before}${item}"`);
  const isWhole = together.startsWith(before) && together.endsWith('"') && !/["\\\r\n]/.test(item);
  return isWhole ? together.slice(before.length, -1) : map(item);
}
