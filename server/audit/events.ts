export const events = {
  'sign-in': 'A user signed in.',
  'sign-out': 'A user signed out, or a program ended the sign-in that it presented.',
  'sign-in-refused':
    'A sign-in was refused: a wrong password, an unknown or disabled user, or too many attempts.',
  'second-factor-required': 'A password was right, and the sign-in waits for a second factor.',
  'account-delayed': 'An account is being guessed: further attempts have to wait.',
  'account-unlocked': 'An operator forgot the failed attempts of an account.',
  'old-session-presented':
    'An old copy of a session cookie was presented after the new one was in use: the sign-in ended.',
  'old-token-presented':
    'A token from before a change of a credential was presented: it was refused, and the sign-in goes on. Recorded once for each sign-in.',
  'session-ended': 'A user ended one sign-in from another one.',
  'sessions-ended': 'A user ended all other sign-ins.',
  'sign-in-disowned':
    'A user said that a sign-in was not theirs: it ended, and a new password is needed.',
  'password-changed':
    'A password was set: by the user, who knew the one before, or by an operator.',
  'password-reset': 'A password was set by a one-time link.',
  'link-created': 'A one-time link to set a password or a first second factor was made.',
  'link-refused': 'A one-time link was refused: used, expired, replaced by newer ones or unknown.',
  'user-created': 'A user was created.',
  'user-changed': 'The username, profile or e-mail address of a user changed.',
  'user-disabled': 'A user was disabled: every sign-in ended.',
  'user-signed-out': 'An operator or an application ended every sign-in of a user.',
  'all-signed-out':
    'An operator ended every sign-in of every user, and every signing key was replaced.',
  'user-enabled': 'A disabled user was enabled.',
  'user-erased': 'A user was erased with all data. The entry names the user by a hash of the id.',
  'role-changed': 'A user became an operator, or is no operator any more.',
  'user-viewed': 'An operator opened a user on the page /operator.',
  'users-imported': 'An import of several users ended; each of them has an entry.',
  'factor-added': 'A user added a second factor or a passkey.',
  'factor-removed':
    'A user removed a second factor or a passkey, or an operator one that the secret of the service does not open.',
  'passkey-copied':
    'The counter of a passkey did not rise, so there may be a copy of the authenticator: the use was refused.',
  'factors-reset': 'An operator removed every second factor and passkey of a user.',
  'recovery-codes-created': 'A user got new recovery codes; those of before are void.',
  confirmed: 'A signed-in user proved a password or factor again.',
  'key-created': 'A producer key was made.',
  'key-revoked': 'A producer key was revoked.',
  'key-refused': 'A producer key tried to change a user with a role, and got 404.',
  'key-rotated': 'A producer key got a new secret.',
  'notifications-withdrawn':
    'An operator withdrew notifications: those with a key, of a delivery, or of a producer and time.',
  'audit-exported': 'An operator exported the audit log.',
  'signing-key-rotated': 'Access tokens are signed with a new key.',
  'signing-key-dropped': 'A signing key was dropped: its tokens are refused.',
  'secret-rotated': 'What CARILLON_SECRET protects was sealed with a new secret.',
  'provider-linked': 'An account at a provider was linked to a user.',
  'provider-unlinked': 'An account at a provider was unlinked from a user.',
  'maintenance-began': 'An operator began maintenance: the service can only be read.',
  'maintenance-ended': 'An operator ended maintenance.',
  'settings-changed': 'The service started with other settings than before.',
  'send-given-up':
    'A mail or push was given up: it could not be sent for a day, or its target refused it for good.',
  'mail-stopped':
    'The mail server refused a user’s address for good on two days: no more mails go there until an address is verified again.',
  'mails-refused':
    'The mail server refused more than 20 addresses for good within an hour, so it may refuse this service: none is stopped.',
  'mail-tested': 'An operator sent a mail to an address to try the mail server.',
  'webhook-created': 'A webhook was added.',
  'webhook-changed': 'A webhook was changed, or got a new secret.',
  'webhook-removed': 'A webhook was removed, and what waited for it.',
  'webhook-disabled': 'A webhook was disabled: no request was accepted for three days.',
  'outbox-retried': 'An operator let what waits be sent now.',
  'outbox-dropped': 'An operator removed mails, pushes or events that waited.',
  'tidying-failed': 'The hourly work of the service failed: rows that have ended stay.',
  'tokens-revoked': 'The access tokens that an application got for a user were revoked.',
} as const

export type EventName = keyof typeof events

export const eventsForOperators: ReadonlySet<string> = new Set<EventName>([
  'webhook-disabled',
  'mails-refused',
])
