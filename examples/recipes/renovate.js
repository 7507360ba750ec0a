// config.js of a self-hosted Renovate: the commands that the preset renovate/cotter.json may run.
// Copy the patterns as they are. Anyone who can write to a repository chooses the names of modules
// and directories; with these patterns, a name is never a flag of Cotter, and a directory is always
// one of the repository.
module.exports = {
  allowedCommands: [
    '^git checkout HEAD -- \\./(?:[\\w.-]*[\\w-][\\w.-]*/)*\\.(?:terraform|cotter)\\.lock\\.hcl$',
    '^cotter --chdir \\./(?:\\.|[\\w.-]*[\\w-][\\w.-]*(?:/[\\w.-]*[\\w-][\\w.-]*)*) update --to \\d[\\w.+-]* -- [A-Za-z_][\\w.-]*$',
  ],
};
