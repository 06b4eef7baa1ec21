/** One sentence on what an agent may do; `open` asks for a second look, `tight` is a boundary. */
export interface Statement {
  text: string;
  weight: "tight" | "plain" | "open";
}
