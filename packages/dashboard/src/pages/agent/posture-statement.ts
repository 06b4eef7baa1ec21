/** One sentence about what an agent may do: `tight` is a restriction, `open` deserves review. */
export interface PostureStatement {
  text: string;
  weight: "tight" | "plain" | "open";
}
