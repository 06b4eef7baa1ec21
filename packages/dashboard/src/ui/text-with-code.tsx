import { Link } from "@tanstack/react-router";

/** Renders text between `backquotes` as code, and the id of a job as a link. */
export function TextWithCode({ text }: { text: string }) {
  return text.split("`").map((part, index) => {
    if (index % 2 === 0) return part;
    const code = (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other key
      <code key={index} className="rounded-sm bg-sunken px-1 font-mono text-[0.92em] text-text">
        {part}
      </code>
    );
    if (!jobIdPattern.test(part)) return code;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other key
      <Link key={index} to="/jobs/$jobId" params={{ jobId: part }} className="underline">
        {code}
      </Link>
    );
  });
}

const jobIdPattern = /^job-\d{4}-\d\d-\d\d-[a-z0-9]+$/;
