import { create } from "@bufbuild/protobuf";
import { BudgetSchema, type Budget, type BudgetKind, type BudgetPeriod, type BudgetScope } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { CallAmounts, Reservation } from "../../domain/budget/budget-store.ts";

export interface BudgetRow extends Record<string, unknown> {
  readonly scope: BudgetScope;
  readonly subject: string;
  readonly kind: BudgetKind;
  readonly period: BudgetPeriod;
  readonly amount: string;
  readonly used: string;
  readonly reserved: string;
}

/** What reserving for a call gave. */
export interface ReservedRow extends Record<string, unknown> {
  readonly is_refused: boolean;
  /** By kind; null where nobody can count it. */
  readonly granted: readonly (string | null)[];
  readonly named: readonly BudgetRow[] | null;
}

/** Above all that is counted, and within PostgreSQL's bigint. */
const UNLIMITED = 2n ** 62n;

/** What is needed and what is wished for, in the order of the kinds' numbers. */
export function amountsByKind(least: CallAmounts, most: CallAmounts): [(string | null)[], (string | null)[]] {
  const byKind = ({ tokens, money }: CallAmounts, milliseconds: bigint): (string | null)[] => [
    tokens.toString(),
    money?.toString() ?? null,
    "1",
    milliseconds.toString(),
  ];
  return [byKind(least, 1n), byKind(most, UNLIMITED)];
}

export function reservationOf({ is_refused: isRefused, granted, named: rows }: ReservedRow): Reservation | Budget {
  const named = (rows ?? []).map(budgetOf);
  if (isRefused) return named[0]!;
  const [tokens, money, , milliseconds] = granted.map((amount) => BigInt(amount ?? UNLIMITED));
  return { tokens: tokens!, money: money!, milliseconds: milliseconds!, limitedBy: named };
}

export function budgetOf(row: BudgetRow): Budget {
  const { scope, subject, kind, period, amount, used, reserved } = row;
  const figures = { limit: BigInt(amount), used: BigInt(used), reserved: BigInt(reserved) };
  return create(BudgetSchema, { scope, subject, kind, period, ...figures });
}
