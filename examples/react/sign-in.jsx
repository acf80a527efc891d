// The sign-in of Carillon. Its session is in a cookie that scripts cannot read; the inbox opens as soon as the user is signed in.
import { isCarillonError } from 'carillon-client'
import { useState } from 'react'

export function SignIn({ carillon }) {
  const [problem, setProblem] = useState('')
  /** The error that demands a second factor. */
  const [demanded, setDemanded] = useState()
  const explain = (error) => {
    const isDemand = isCarillonError(error, 'SECOND_FACTOR_REQUIRED')
    if (isDemand) setDemanded(error)
    // The challenge has ended: the password comes first again.
    if (isCarillonError(error, 'UNAUTHORIZED')) setDemanded(undefined)
    setProblem(isDemand ? '' : error.message)
  }
  const signIn = (form) =>
    carillon.login({ ...Object.fromEntries(form), variant: 'stateful' }).catch(explain)
  const complete = (factor) =>
    carillon.completeSignIn({ challenge: demanded.challenge, ...factor }).catch(explain)
  if (demanded)
    return <SecondStep factors={demanded.factors} complete={complete} problem={problem} />
  return (
    <form action={signIn}>
      <label>
        Name <input name="username" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit">Sign in</button>
      <p role="alert">{problem}</p>
    </form>
  )
}

function SecondStep({ factors, complete, problem }) {
  /** A code of an app has six digits, which some apps display as `123 456`; a recovery code has letters. */
  const send = (form) => {
    const code = form.get('code').replaceAll(' ', '')
    return complete(/^\d+$/.test(code) ? { code } : { recoveryCode: code })
  }
  return (
    <form action={send}>
      <label>
        Code of your app, or a recovery code{' '}
        <input name="code" autoComplete="one-time-code" required />
      </label>
      <button type="submit">Continue</button>
      {factors.includes('passkey') && (
        <button type="button" onClick={() => complete({})}>
          Use your passkey
        </button>
      )}
      <p role="alert">{problem}</p>
    </form>
  )
}
