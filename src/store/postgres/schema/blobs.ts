/**
 * Uploaded files. The bytes of a file are rows of `blob_chunks` with one name; `blobs` gives that name to a hash once the file is
 * persisted, and until then `blob_uploads` has it. The bytes are not compressed: most formats of documents are already.
 */
export const BLOB_TABLES = `
	CREATE TABLE blobs (
		hash string PRIMARY KEY, content string NOT NULL, size bigint NOT NULL
	);

	CREATE TABLE blob_uploads (
		content string PRIMARY KEY, expires_at bigint NOT NULL
	);

	CREATE TABLE blob_chunks (
		content string NOT NULL, number bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (content, number)
	);
	ALTER TABLE blob_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
`;
