// Splits a workload's environment: variables that root may carry during preparation, and variables that change the
// behaviour of root's programs (above all the loader's), which are added only after the change of user.

interface SplitEnvironment {
  readonly safe: Record<string, string>;
  readonly later: readonly string[];
}

const UNSAFE =
  /^(LD_|GLIBC_|MALLOC_|NODE_|PYTHON|PERL|BASH_|RES_|LOCALDOMAIN|HOSTALIASES|GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|NIS_PATH|IFS$|ENV$|PS4$|CDPATH$|SHELLOPTS$|TMPDIR$|TZDIR$|CONTAINERS_|STORAGE_|DOCKER_|XDG_|_CONTAINERS|LIBMOUNT_|LOOPDEV_)/;

export function splitEnvironment(environment: Readonly<Record<string, string>>): SplitEnvironment {
  const safe: Record<string, string> = {};
  const later: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (UNSAFE.test(name)) later.push(`${name}=${value}`);
    else safe[name] = value;
  }
  return { safe, later };
}
