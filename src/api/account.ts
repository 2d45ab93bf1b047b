import {
	type ConfirmedTotp,
	type CredentialMonitor,
	lastUseOf,
	type OwnAccount,
	type Sessions,
	type TotpSetup,
} from '../access/index.ts';
import { timestamp } from '../base/index.ts';
import { type OwnSession, operations } from '../contract/index.ts';
import type { Route } from '../http/index.ts';
import type { SessionRecord, UserRecord } from '../store/index.ts';
import { byCreation, type Cursors } from './cursors.ts';
import type { IdempotencyOptions } from './idempotent-call.ts';
import { ownChangeRouteFactory, type SessionRouteOptions, userRouteFactory } from './session-route.ts';
import { presentUser } from './users.ts';

export interface AccountRoutesOptions extends SessionRouteOptions, IdempotencyOptions {
	sessions: Sessions;
	ownAccount: OwnAccount;
	totpSetup: TotpSetup;
	credentialMonitor: CredentialMonitor;
	cursors: Cursors;
}

function presentSession(record: SessionRecord, currentId: string): OwnSession {
	return {
		id: record.id,
		is_current: record.id === currentId,
		user_agent: record.user_agent,
		last_used_at: timestamp(lastUseOf(record)),
		created_at: timestamp(record.created_at),
		expires_at: timestamp(record.expires_at),
	};
}

/** What the audit log names as changed. */
const userOf = ({ user: { id, name } }: { user: UserRecord }) => ({ id, name });

/** The account of the signed-in user: name, password and sessions. */
export function accountRoutes(options: AccountRoutesOptions): Route[] {
	const { sessions, ownAccount, totpSetup, credentialMonitor, cursors } = options;
	const userRoute = userRouteFactory(options);
	const ownChangeRoute = ownChangeRouteFactory(options);
	return [
		userRoute(operations.updateAccount, async ({ caller, body, origin, audit }) => {
			const user = await ownAccount.change(caller.userSession, body, origin, audit);
			await credentialMonitor.recheckAll();
			// A new password ends the device cookies of the account.
			const cookie = body.password === undefined ? null : sessions.deviceCookie(user, origin.cookies);
			return { result: presentUser(user), cookies: [cookie] };
		}),

		ownChangeRoute(operations.beginTotp, ({ caller, body, origin, commit }) => {
			const change = totpSetup.begin(caller.userSession, body.current_password, origin);
			return commit(change, ({ secret, uri }) => ({ secret, uri }), userOf);
		}),

		// A second factor, and its removal, end the device cookies of the account, as a new password does.
		ownChangeRoute(operations.confirmTotp, async ({ caller, body, origin, commit, setCookie }) => {
			const change = totpSetup.confirm(caller.userSession, body.code, origin);
			const present = ({ user, recoveryCodes }: ConfirmedTotp) => {
				setCookie(sessions.deviceCookie(user, origin.cookies));
				return { recovery_codes: recoveryCodes };
			};
			const confirmed = await commit(change, present, userOf);
			await credentialMonitor.recheckAll();
			return confirmed;
		}),

		ownChangeRoute(operations.disableTotp, ({ caller, body, origin, commit, setCookie }) =>
			commit(totpSetup.disable(caller.userSession, body.current_password, origin), (user) => {
				setCookie(sessions.deviceCookie(user, origin.cookies));
				return presentUser(user);
			}),
		),

		userRoute(operations.listSessions, async ({ caller, query }) => {
			const { session, user } = caller.userSession;
			const list = `sessions ${user.id}`;
			const page = cursors.read(list, query);
			const records = await sessions.list(user.id, { ...page, limit: page.limit + 1 });
			const result = cursors.page(list, page, records, byCreation, (record) => presentSession(record, session.id));
			return { result };
		}),

		userRoute(operations.endSession, async ({ caller, params, audit }) => {
			await sessions.end(caller.userSession, params.id, audit);
			await credentialMonitor.recheckAll();
			return { result: { id: params.id, deleted: true as const } };
		}),

		userRoute(operations.endOtherSessions, async ({ caller, audit }) => {
			const ended = await sessions.endOthers(caller.userSession, audit);
			await credentialMonitor.recheckAll();
			return { result: { ended } };
		}),
	];
}
