// The mails to users, as plain text. `before` and `after`: the paragraphs around the link; `link`: its text in the HTML part.
export type Texts = typeof texts
/** `count`: how many changes of the account. `title`: that of the first notice. `lines`: the titles and bodies of the notices in the inbox. */
type Changes = { count: number; title: string; lines: readonly string[]; service: string }
/** `until`: a time in UTC. `service`: the name of the service. */
type Reset = { username: string; until: string; service: string }

export const texts = () => ({
  reset: ({ username, until, service }: Reset) => ({
    subject: `A new password at ${service}`,
    before: [
      `Someone requested a new password at ${service} for the account`,
      username,
      `To choose one, open this link. It works once, until ${until}:`,
    ],
    link: 'Choose a new password',
    after: ['If that was not you, ignore this mail: your password stays as it is.'],
  }),
  changes: ({ count, title, lines, service }: Changes) => ({
    subject: `${count === 1 ? title : `${count} changes to your account`} (${service})`,
    before: lines,
    link: 'Open your account',
    after: [],
  }),
})
