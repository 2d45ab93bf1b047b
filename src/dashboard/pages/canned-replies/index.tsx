import { CannedReplyPage } from './canned-reply.tsx';
import { CannedReplyList } from './list.tsx';
import { NewCannedReply } from './new.tsx';

/** `canned-replies`, `canned-replies/new`, `canned-replies/{id}` */
export default function CannedReplies({ path: [id] }: { path: readonly string[] }) {
	if (id === undefined) return <CannedReplyList />;
	if (id === 'new') return <NewCannedReply />;
	return <CannedReplyPage key={id} id={id} />;
}
