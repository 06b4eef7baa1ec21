/** Characters that separate words. PostgreSQL would read `src/app.ts` as one word. */
const separators = '_/\\\\.:@-+=#~&%*<>()[]{}|,;!?"$^`';

/**
 * The full-text index of finished jobs, derived like the one in `store/sqlite/search-tables.ts`.
 */
export const searchSchema = `
  CREATE TABLE herdctl.job_texts (
    seq     bigint PRIMARY KEY REFERENCES herdctl.jobs (seq) ON DELETE CASCADE,
    prompt  text NOT NULL,
    summary text NOT NULL,
    output  text NOT NULL,
    words   tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector('simple'::regconfig,
      translate(prompt || ' ' || summary || ' ' || output,
        E'${separators}', repeat(' ', ${separators.length - 1})))) STORED
  );
  CREATE INDEX job_texts_words ON herdctl.job_texts USING gin (words);
`;
