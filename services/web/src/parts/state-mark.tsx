import { CircleCheck, CircleDot, CircleHelp, Hourglass, OctagonAlert, CircleStop, type LucideIcon } from "lucide-react";
import { Icon } from "./icon.tsx";
import parts from "./parts.module.css";

export type Tone = "ok" | "warn" | "danger" | "info" | "doubt" | "plain";

const ICONS: Readonly<Record<Tone, LucideIcon>> = {
  ok: CircleCheck,
  warn: Hourglass,
  danger: OctagonAlert,
  info: CircleDot,
  doubt: CircleHelp,
  plain: CircleStop,
};

interface StateMarkProps {
  readonly tone: Tone;
  readonly icon?: LucideIcon;
  /** One thing in view pulses: a run that goes on. */
  readonly isLive?: boolean;
  readonly children?: string;
}

/** A state: its colour, its icon and its word. */
export function StateMark({ tone, icon = ICONS[tone], isLive = false, children }: StateMarkProps) {
  return (
    <span className={`${parts.state} ${parts[tone]}`}>
      <Icon of={icon} className={isLive ? parts.pulse : undefined} />
      {children}
    </span>
  );
}
