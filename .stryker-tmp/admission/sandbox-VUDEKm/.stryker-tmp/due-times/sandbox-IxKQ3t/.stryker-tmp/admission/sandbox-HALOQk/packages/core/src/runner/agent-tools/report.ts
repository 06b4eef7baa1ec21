import { compileSchema, type JsonSchema } from "@herdctl/config";
import { z } from "zod";
import { writeReport } from "../../store/files/agent-report.ts";
import {
  type AgentTool,
  type AgentToolContext,
  defineAgentTool,
  refuse,
  type ToolAnswer,
} from "./agent-tool.ts";

const maxReportLength = 256 * 1024;
const anyObjectSchema: JsonSchema = { type: "object" };

/** Stores the result of the run as data immediately; a later report replaces it. */
export function reportTool({ order, jobDir }: AgentToolContext): AgentTool {
  const schema = order.outputSchema ?? anyObjectSchema;
  return {
    name: "report",
    title: "Report the result",
    description:
      "Submits the result of this run as data, for programs and people that wait for it. The report is validated; if it is not accepted, correct the listed problems and call this tool again. The last accepted report counts.",
    inputSchema: {
      type: "object",
      properties: { report: rebaseReferences(schema, "#/properties/report") },
      required: ["report"],
      additionalProperties: false,
    },
    call: (input) => acceptReport(input, schema, jobDir),
  };
}

async function acceptReport(
  input: unknown,
  schema: JsonSchema,
  jobDir: string,
): Promise<ToolAnswer> {
  const report = typeof input === "object" && input && "report" in input ? input.report : null;
  if (report === null) return refuse('Not accepted: the input must be `{"report": …}`.');
  if (JSON.stringify(report).length > maxReportLength)
    return refuse("Not accepted: the report is larger than 256 KB. Keep long texts as files.");
  const problems = compileSchema(schema)(report);
  if (problems.length > 0)
    return refuse(
      `Not accepted:\n${problems.map((line) => `- ${line}`).join("\n")}\nCorrect this and report again.`,
    );
  await writeReport(jobDir, report);
  return { text: "Accepted." };
}

/** Rewrites the `$ref` pointers of a schema that becomes part of another one. */
function rebaseReferences(schema: JsonSchema, pointer: string): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, rebaseValue(key, value, pointer)]),
  );
}

function rebaseValue(key: string, value: unknown, pointer: string): unknown {
  if (key === "$ref" && typeof value === "string" && value.startsWith("#"))
    return pointer + value.slice(1);
  if (Array.isArray(value)) return value.map((item) => rebaseValue("", item, pointer));
  return typeof value === "object" && value !== null
    ? rebaseReferences({ ...value }, pointer)
    : value;
}

/** Does nothing itself: the call in the job's log is shown to people. */
export function progressTool(): AgentTool {
  return defineAgentTool({
    name: "progress",
    title: "Show your progress",
    description:
      "Shows people what you are doing, in one short line. Call it when a new part of the work begins.",
    input: z.strictObject({
      text: z.string().trim().min(1).max(200).describe("What you are doing, in one line"),
      fraction: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .describe("How much of the work is done, 0 to 1"),
    }),
    call: async () => ({ text: "Shown." }),
  });
}
