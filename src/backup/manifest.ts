import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { DamagedArchiveError } from './archive-errors.ts';

/** The version of the archive's layout. A program reads its own version only. */
const FORMAT_VERSION = 1;
/** The largest manifest that is read, in bytes. */
export const MAX_MANIFEST_BYTES = 64 * 1024;

const Size = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const ManifestSchema = Type.Object({
	format: Type.Literal('parley-backup'),
	format_version: Type.Integer({ minimum: 1 }),
	/** The Parley that made the archive. */
	parley_version: Type.String(),
	/** The schema version of the database. */
	schema_version: Type.Integer({ minimum: 1 }),
	/** When the database was copied (RFC 3339). */
	created_at: Type.String(),
	database: Type.Object({ bytes: Size, sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
	blobs: Type.Object({ count: Size, bytes: Size }),
	/** Rows of the database, by table. */
	counts: Type.Record(Type.String(), Size),
});

/** The first part of an archive: what made it, and what is in it. */
export type Manifest = Static<typeof ManifestSchema>;

export function createManifest(content: Omit<Manifest, 'format' | 'format_version'>): Manifest {
	return { format: 'parley-backup', format_version: FORMAT_VERSION, ...content };
}

/** The bytes of a manifest: JSON for people and programs. */
export function renderManifest(manifest: Manifest): Buffer {
	return Buffer.from(`${JSON.stringify(manifest, null, '\t')}\n`);
}

/** @throws DamagedArchiveError for bytes that are not a manifest of this version */
export function parseManifest(bytes: Buffer, file: string): Manifest {
	let value: unknown;
	try {
		value = JSON.parse(bytes.toString('utf8'));
	} catch {
		throw new DamagedArchiveError(file, 'its manifest is not JSON');
	}
	if (!Check(ManifestSchema, value)) throw new DamagedArchiveError(file, 'its manifest is not one of a backup');
	if (value.format_version !== FORMAT_VERSION) {
		throw new DamagedArchiveError(
			file,
			`its format is version ${value.format_version}, and this Parley reads version ${FORMAT_VERSION}`,
		);
	}
	return value;
}
