import type { Isolation } from "../domain/isolation.ts";

export function describeIsolation(isolation: Isolation, capacity: string) {
  const { driver, driverVersion, features } = isolation.describe();
  const described = features.map(({ name, isActive, detail }) => ({ name, active: isActive, detail }));
  return { driver, driverVersion, features: [...described, { name: "sessions at a time", active: true, detail: capacity }] };
}
