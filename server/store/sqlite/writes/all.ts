// Every write by its name, as the writer thread runs it.
export { deliver, removeOldDeliveries } from './deliver.ts'
export { markAllRead, markRead } from './inbox.ts'
export {
  addProducer,
  addSession,
  addUser,
  changeNothing,
  disableUser,
  endSessions,
  ensureSigningKey,
  removeStaleSessions,
  revokeProducer,
  revokeTokens,
  setPassword,
  touchProducer,
  touchSession,
} from './sign-in.ts'
