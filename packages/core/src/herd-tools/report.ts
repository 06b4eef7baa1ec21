import type { JsonSchema } from "../config/json-schema.ts";
import { compileSchema } from "../config/output-schema.ts";
import { keepReport } from "../state/agent-report.ts";
import type { HerdDoors } from "./herd-doors.ts";
import { type HerdAnswer, type HerdTool, refusal } from "./herd-tool.ts";

const largest = 256 * 1024;
const anything: JsonSchema = { type: "object" };

/** The result of the run as data. It is kept at once; a later one takes its place. */
export function reportTool({ order, jobDir }: HerdDoors): HerdTool {
  const schema = order.outputSchema ?? anything;
  return {
    name: "report",
    title: "Report the result",
    description:
      "Hands in the result of this run as data, for the programs and people that wait for it. It is checked; if something is wrong you are told what, and call it again. The last report that was accepted counts.",
    inputSchema: {
      type: "object",
      properties: { report: within(schema, "#/properties/report") },
      required: ["report"],
      additionalProperties: false,
    },
    call: (input) => take(input, schema, jobDir),
  };
}

async function take(input: unknown, schema: JsonSchema, jobDir: string): Promise<HerdAnswer> {
  const report = typeof input === "object" && input && "report" in input ? input.report : null;
  if (report === null) return refusal('Not accepted: the input has to be `{"report": …}`.');
  if (JSON.stringify(report).length > largest)
    return refusal("Not accepted: the report is larger than 256 KB. Keep long texts as files.");
  const wrong = compileSchema(schema)(report);
  if (wrong.length > 0)
    return refusal(
      `Not accepted:\n${wrong.map((line) => `- ${line}`).join("\n")}\nCorrect this and report again.`,
    );
  await keepReport(jobDir, report);
  return { text: "Accepted." };
}

/** References of a schema, as they must read when it is a part of another. */
function within(schema: JsonSchema, place: string): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, moved(key, value, place)]),
  );
}

function moved(key: string, value: unknown, place: string): unknown {
  if (key === "$ref" && typeof value === "string" && value.startsWith("#"))
    return place + value.slice(1);
  if (Array.isArray(value)) return value.map((item) => moved("", item, place));
  return typeof value === "object" && value !== null ? within({ ...value }, place) : value;
}
