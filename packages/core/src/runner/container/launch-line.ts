export interface Launch {
  /** A folder in the container. */
  cwd: string;
  /** Added to the environment that the container has already. */
  env: Readonly<Record<string, string>>;
  program: string;
  args: readonly string[];
}

/**
 * What `herdctl-launch` in the image reads before it becomes the program: one line, whose end is
 * the last byte that it takes from standard input.
 */
export function launchLine({ cwd, env, program, args }: Launch): string {
  if (program.includes("=")) throw new TypeError(`${program} would be taken for a variable`);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return `${[cwd, ...variables, program, ...args].map(field).join(" ")}\n`;
}

const plain = /^[A-Za-z0-9_./:=,@+-]*$/;

/** The colon makes an empty field visible. */
function field(text: string): string {
  if (text.includes("\0")) throw new TypeError("no argument or variable can hold a NUL");
  return `:${plain.test(text) ? text : [...Buffer.from(text)].map(byte).join("")}`;
}

function byte(code: number): string {
  const character = String.fromCharCode(code);
  if (plain.test(character)) return character;
  return `\\0${code.toString(8).padStart(3, "0")}`;
}
