import { BookOpenText, Brain, Coins, Cpu, MessagesSquare, Settings, ShieldCheck, Users, type LucideIcon } from "lucide-react";

export interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** Pressed after `g`. */
  readonly key: string;
}

/** Where one can go from everywhere, as the rail has it. */
export const PLACES: readonly Place[] = [
  { path: "/", name: "Sessions", icon: MessagesSquare, key: "s" },
  { path: "/approvals", name: "Approvals", icon: ShieldCheck, key: "a" },
  { path: "/memory", name: "Memory", icon: Brain, key: "m" },
  { path: "/audit", name: "Audit", icon: BookOpenText, key: "u" },
  { path: "/cost", name: "Cost", icon: Coins, key: "c" },
  { path: "/models", name: "Models", icon: Cpu, key: "o" },
  { path: "/people", name: "People", icon: Users, key: "p" },
  { path: "/settings", name: "Settings", icon: Settings, key: "," },
];
