/** The full-text index of finished jobs. Both tables are derived, and can be built again. */
export const searchTables = `
  CREATE TABLE job_texts (
    seq INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
    prompt TEXT NOT NULL,
    summary TEXT NOT NULL,
    output TEXT NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE job_words USING fts5(
    prompt, summary, output, content = 'job_texts', content_rowid = 'seq', detail = 'full',
    tokenize = 'unicode61 remove_diacritics 0'
  );
  CREATE TRIGGER job_texts_added AFTER INSERT ON job_texts BEGIN
    INSERT INTO job_words (rowid, prompt, summary, output)
      VALUES (NEW.seq, NEW.prompt, NEW.summary, NEW.output);
  END;
  CREATE TRIGGER job_texts_removed AFTER DELETE ON job_texts BEGIN
    INSERT INTO job_words (job_words, rowid, prompt, summary, output)
      VALUES ('delete', OLD.seq, OLD.prompt, OLD.summary, OLD.output);
  END
`;
