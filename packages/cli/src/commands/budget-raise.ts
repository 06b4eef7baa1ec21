import type { Amounts } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import { type Call, type Options, textOption } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { budgetLines } from "../show/budget-lines.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal, options } = call;
  const [agent] = call.arguments;
  const by = amountsOf(options);
  return withFleet(call, async (fleet) => {
    const view = await fleet.raiseBudget(agent, by);
    if (terminal.json) terminal.printJson(view);
    else for (const line of budgetLines(view, lookOf(terminal))) terminal.print(line);
    return 0;
  });
}

const kinds = ["usd", "jobs", "tokens"] as const;

function amountsOf(options: Options): Partial<Amounts> {
  const by: Partial<Amounts> = {};
  for (const kind of kinds) {
    const text = textOption(options, kind);
    if (text !== undefined) by[kind] = amountOf(kind, text);
  }
  if (Object.keys(by).length > 0) return by;
  throw new UserError("usage", "by how much?", { hint: "Give `--usd`, `--jobs` or `--tokens`." });
}

function amountOf(kind: keyof Amounts, text: string): number {
  const amount = Number(text);
  const isRight =
    amount > 0 && (kind === "usd" ? Number.isFinite(amount) : Number.isInteger(amount));
  if (isRight) return amount;
  throw new UserError("usage", `"${text}" is no amount of ${kind}`, {
    hint: "Give by how much it is to be raised, such as `5`.",
  });
}
