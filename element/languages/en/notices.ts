// The notices about changes of an account, in the inbox and in mails.
export type Texts = ReturnType<typeof texts>

export const texts = () => ({
  titles: {
    'password-changed': 'Your password was changed',
    'email-changed': 'Your e-mail address was changed',
    'username-changed': 'Your username was changed',
    'factor-added': 'An authenticator app was added to your account',
    'passkey-added': 'A passkey was added to your account',
    'factor-removed': 'A second factor or passkey was removed from your account',
    'factors-reset': 'All second factors and passkeys were removed from your account',
    'recovery-codes-created': 'New recovery codes were made for your account',
    'provider-linked': 'An account at another service was linked to yours',
    'provider-unlinked': 'An account at another service was unlinked from yours',
    'old-session-presented': 'Someone presented an old copy of your sign-in',
  },
  unknownDevice: 'an unknown device',
  byUser: (device: string, address: string, time: string) =>
    `This was done with ${device}, from the address ${address}, on ${time}.`,
  byOperator: (time: string) => `This was done by the operator of the service, on ${time}.`,
  byApplication: (time: string) => `This was done by your application, on ${time}.`,
  byUnknown: (time: string) => `This happened on ${time}.`,
  advice: 'If you did not expect it, check your account and set a new password.',
  ended: 'That sign-in was ended. Sign in again, check your account and set a new password.',
})
