import {
	AuthorizationResponseError,
	ClientError,
	ResponseBodyError,
	WWWAuthenticateChallengeError,
} from 'openid-client';
import { AppError } from '../base/index.ts';
import { ServiceError } from '../net/index.ts';

/** Codes of errors as RFC 6749 writes them. The browser brings them, so no other text of a response is shown. */
const ERROR_CODE = /^[a-z_]{1,40}$/;

const NOT_OF_THIS_SIGN_IN = 'The answer of the identity provider does not belong to this sign-in. Sign in again.';
const CLOCKS_DIFFER = 'The clocks of this server and of the identity provider differ too much.';
const UNREACHABLE = 'The identity provider cannot be reached, or did not answer in time. Try again later.';
const NOT_ACCEPTED = 'The identity provider has not accepted the credentials of this server.';
const UNUSABLE = 'The identity provider gave an answer that this server cannot use.';

/** The error of an answer that another issuer gave, or to another request. */
export function foreignAnswerError(cause?: unknown): AppError {
	return new AppError('sign_in_refused', NOT_OF_THIS_SIGN_IN, { cause });
}

/** The sentence for a failure of a sign-in. Its cause has the details, for the log. */
export function providerError(thrown: unknown): AppError {
	if (thrown instanceof AuthorizationResponseError) return refusedByProvider(thrown);
	if (thrown instanceof ResponseBodyError) return refusedToServer(thrown);
	if (thrown instanceof AppError && thrown.code === 'sign_in_refused') return thrown;
	if (thrown instanceof WWWAuthenticateChallengeError) {
		return new AppError('identity_provider_failed', NOT_ACCEPTED, { cause: thrown });
	}
	if (isUnreachable(thrown)) return new AppError('identity_provider_failed', UNREACHABLE, { cause: thrown });
	switch (thrown instanceof ClientError ? thrown.code : undefined) {
		case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
			return new AppError('identity_provider_failed', CLOCKS_DIFFER, { cause: thrown });
		// The nonce, the issuer or the audience is another one.
		case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
			return foreignAnswerError(thrown);
		default:
			return new AppError('identity_provider_failed', UNUSABLE, { cause: thrown });
	}
}

/** The provider's answer to the browser is an error. */
function refusedByProvider(cause: AuthorizationResponseError): AppError {
	const code = ERROR_CODE.test(cause.error) ? cause.error : 'error';
	return new AppError('sign_in_refused', `The identity provider has refused the sign-in (${code}).`, { cause });
}

/** The provider's answer to this server is an error. */
function refusedToServer(cause: ResponseBodyError): AppError {
	if (cause.error === 'invalid_grant') {
		// The code was used before, or has expired.
		return new AppError('unauthorized', 'The sign-in has expired. Sign in again.', { cause });
	}
	const code = ERROR_CODE.test(cause.error) ? cause.error : 'error';
	const sentence = `The identity provider has refused the request of this server (${code}).`;
	return new AppError('identity_provider_failed', sentence, { cause });
}

/** Whether there was no answer: the library wraps what its fetch throws. */
function isUnreachable(thrown: unknown): boolean {
	for (let error = thrown; error instanceof Error; error = error.cause) {
		if (error instanceof ServiceError || error instanceof AppError || error.name === 'TimeoutError') return true;
	}
	return false;
}
