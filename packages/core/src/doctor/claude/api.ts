import type { Environment } from "../../config/environment.ts";
import { UserError } from "../../errors/user-error.ts";
import type { CredentialChoice } from "../../runner/credential.ts";
import { type Finding, failed, ok, unknown, warning } from "../check.ts";
import { type ApiAnswer, reachApi } from "./reach-api.ts";
import { type SignIn, variableOf } from "./sign-in.ts";

export interface ApiChecks {
  findings: Finding[];
  /** What the API's clock says of ours. */
  skew: number | undefined;
}

/** Whether the API answers, and takes each key that an agent would show it. Nothing is spent. */
export async function checkApi(
  signIns: readonly SignIn[],
  env: Environment,
  signal: AbortSignal,
): Promise<ApiChecks> {
  const usable = signIns.map(({ choice }) => choice).filter(({ kind }) => kind !== "none");
  const keys = usable.filter((choice) => choice.kind === "api_key");
  const distinct = [...new Map(keys.map((one) => [one.upstream.value, one])).values()];
  const asked: (CredentialChoice | undefined)[] = distinct.length > 0 ? distinct : [undefined];
  const answers = await Promise.all(asked.map((choice) => askApi(choice, env, signal)));
  const subscriptions = usable.filter(({ kind }) => kind === "subscription").slice(0, 1);
  return {
    findings: [...answers.map(({ finding }) => finding), ...subscriptions.map(notChecked)],
    skew: answers.find(({ skew }) => skew !== undefined)?.skew,
  };
}

async function askApi(choice: CredentialChoice | undefined, env: Environment, signal: AbortSignal) {
  const credential = choice?.kind === "api_key" ? choice.upstream : undefined;
  try {
    const answer = await reachApi(env, credential, signal);
    const variable = choice && variableOf(choice);
    const hasProxy = [env.HTTPS_PROXY, env.https_proxy, env.ALL_PROXY].some(Boolean);
    const finding = judgeAnswer(answer, { variable, hasProxy });
    return { finding, skew: answer.kind === "answered" ? answer.skew : undefined };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { finding: failed("api", `${error.message}.`, error.hint), skew: undefined };
  }
}

interface Asked {
  /** Where the key that was shown comes from; undefined when none was. */
  variable: string | undefined;
  /** `claude` itself may go by a proxy, which we do not. */
  hasProxy: boolean;
}

export function judgeAnswer(answer: ApiAnswer, { variable, hasProxy }: Asked): Finding {
  const name = "api";
  const { host } = answer;
  if (answer.kind === "unreachable") {
    const message = `${host} cannot be reached (${answer.why}).`;
    const hint = "Look at the network, at ANTHROPIC_BASE_URL, and whether a firewall is between.";
    if (variable === undefined && hasProxy)
      return unknown(name, `${message} Through the proxy it may.`);
    return failed(name, message, hint);
  }
  const { status, words } = answer;
  const said = words === undefined ? String(status) : `${status}: ${words}`;
  if (variable === undefined) return ok(name, `${host} answers.`);
  if (status === 200) return ok(name, `${host} takes the key in ${variable}; asking cost nothing.`);
  if (status === 401 || status === 403) {
    const hint = `Put a key that is valid there into ${variable}; keys are made in the console of the API.`;
    return failed(name, `${host} refuses the key in ${variable} (${said}).`, hint);
  }
  if (status === 404 || status === 405) {
    const hint = "Trigger a job to see whether it takes the key.";
    return unknown(
      name,
      `${host} answers, but has no list of models: the key was not checked.`,
      hint,
    );
  }
  return warning(name, `${host} answers ${said}: the key was not checked.`, "Try again later.");
}

/** Tokens of a subscription are between `claude` and the vendor. */
function notChecked(): Finding {
  return unknown(
    "subscription",
    "Not checked whether it is still valid: only `claude` itself may use it.",
    "Run `claude` and type `/status`, or trigger a job.",
  );
}
