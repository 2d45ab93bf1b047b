import type { SecretBox } from '../base/index.ts';
import type { TotpRecord, UserRecord } from '../store/index.ts';
import { hashRecoveryCode, isSameHash, totpStep } from './totp-codes.ts';

const SEAL_PURPOSE = 'totp secrets';
const RECOVERY_PURPOSE = 'recovery codes';

/** Whether an account needs a code beside its password. */
export function hasTotp({ totp }: Pick<UserRecord, 'totp'>): boolean {
	return totp !== null && totp.enabled_at !== null;
}

/** Checks the codes of accounts. Their secrets are stored sealed, and recovery codes as keyed hashes. */
export class SecondFactor {
	readonly #secrets: SecretBox;

	constructor(secrets: SecretBox) {
		this.#secrets = secrets;
	}

	seal(secret: string): string {
		return this.#secrets.seal(secret, SEAL_PURPOSE);
	}

	hashRecoveryCode(code: string): string {
		return hashRecoveryCode(code, this.#secrets.key(RECOVERY_PURPOSE));
	}

	/** Whether this server's key opens the secret. */
	canOpen({ secret }: TotpRecord): boolean {
		try {
			this.#open(secret);
			return true;
		} catch {
			return false;
		}
	}

	/**
	 * What is stored once a code is accepted; null for a code that is wrong or was accepted before. A code of the app is
	 * accepted only if it is newer than the last one (RFC 6238, section 5.2); a recovery code is removed.
	 */
	accept(totp: TotpRecord, code: string, now: number): TotpRecord | null {
		const step = totpStep(this.#open(totp.secret), code, now);
		if (step !== null) return step > totp.last_step ? { ...totp, last_step: step } : null;
		const hash = this.hashRecoveryCode(code);
		const unused = totp.recovery_hashes.filter((each) => !isSameHash(each, hash));
		return unused.length < totp.recovery_hashes.length ? { ...totp, recovery_hashes: unused } : null;
	}

	#open(sealed: string): string {
		return this.#secrets.open(sealed, SEAL_PURPOSE);
	}
}
