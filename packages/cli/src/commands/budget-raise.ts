import { type BudgetAmounts, UserError } from "@herdctl/protocol";
import { type CommandContext, type ParsedOptions, textOption } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { budgetLines } from "../render/budget-lines.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options } = context;
  const [agent] = context.arguments;
  const increase = parseAmounts(options);
  return withFleet(context, async (fleet) => {
    const view = await fleet.budget.raise({ agent, ...increase });
    if (terminal.isJson) terminal.printJson(view);
    else for (const line of budgetLines(view, terminalStyleOf(terminal))) terminal.print(line);
    return 0;
  });
}

const amountKinds = ["usd", "jobs", "tokens"] as const;

function parseAmounts(options: ParsedOptions): Partial<BudgetAmounts> {
  const increase: Partial<BudgetAmounts> = {};
  for (const kind of amountKinds) {
    const text = textOption(options, kind);
    if (text !== undefined) increase[kind] = parseAmount(kind, text);
  }
  if (Object.keys(increase).length > 0) return increase;
  throw new UserError("usage", "the amount is missing", {
    hint: "Add `--usd`, `--jobs` or `--tokens`.",
  });
}

function parseAmount(kind: keyof BudgetAmounts, text: string): number {
  const amount = Number(text);
  const isValid =
    amount > 0 && (kind === "usd" ? Number.isFinite(amount) : Number.isInteger(amount));
  if (isValid) return amount;
  throw new UserError("usage", `"${text}" is not a valid amount for \`--${kind}\``, {
    hint: "Use the amount to add, such as `5`.",
  });
}
